#include "linkproto/server/server_codec.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "rules/explain.h"

namespace jackpot::linkproto {
namespace {

using namespace rules;

// Thrown inside this file and turned into the Error of readCommand().
struct Malformed {
    std::string what;
};

const std::string& text(const std::string& given, const char* what)
{
    if (given.size() > kMaxTextBytes)
        throw Malformed{std::string{what} + " is longer than " + std::to_string(kMaxTextBytes) +
                        " bytes"};
    if (!isUtf8(given)) throw Malformed{std::string{what} + " is not UTF-8"};
    return given;
}

void requireFew(int count, const char* what)
{
    if (count > kMaxListEntries)
        throw Malformed{"more than " + std::to_string(kMaxListEntries) + " " + what};
}

ReportResult resultOf(const v1::ReportResult& message, const std::string& table)
{
    ReportResult result{table, message.round(), {}, {}};
    requireFew(message.board_size(), "cards on the board");
    requireFew(message.hands_size(), "hands");
    for (const std::string& card : message.board()) result.board.push_back(text(card, "a card"));
    for (const v1::Hand& hand : message.hands()) {
        requireFew(hand.cards_size(), "cards in a hand");
        Hand& to = result.hands.emplace_back();
        to.seat = hand.seat();
        for (const std::string& card : hand.cards()) to.cards.push_back(text(card, "a card"));
    }
    return result;
}

Command commandOf(const v1::Command& message, const std::string& table, const Pseudonym& pseudonym)
{
    switch (message.what_case()) {
        case v1::Command::kOpenRound: {
            OpenRound open{table, message.open_round().round(), {}};
            requireFew(message.open_round().wagers_size(), "wagers");
            open.wagers.reserve(static_cast<std::size_t>(message.open_round().wagers_size()));
            for (const v1::Wager& wager : message.open_round().wagers()) {
                const std::string& card = text(wager.player_card(), "a player card");
                open.wagers.push_back({wager.seat(), !wager.no_base_wager(),
                                       card.empty() ? std::string{} : pseudonym(card),
                                       text(wager.approved_by(), "an approver's name")});
            }
            return open;
        }
        case v1::Command::kReportResult: return resultOf(message.report_result(), table);
        case v1::Command::kCorrectResult:
            return CorrectResult{resultOf(message.correct_result().result(), table),
                                 text(message.correct_result().by(), "a name")};
        case v1::Command::kConfirmJackpot:
            return ConfirmJackpot{table, message.confirm_jackpot().round(),
                                  static_cast<std::int64_t>(std::min<std::uint64_t>(
                                      message.age_ms(), std::numeric_limits<std::int32_t>::max()))};
        case v1::Command::kVoidRound:
            return VoidRound{table, message.void_round().round(),
                             text(message.void_round().reason(), "a reason"),
                             text(message.void_round().by(), "a name")};
        case v1::Command::kVoidWager:
            return VoidWager{table, message.void_wager().round(), message.void_wager().seat(),
                             text(message.void_wager().reason(), "a reason"),
                             text(message.void_wager().by(), "a name")};
        case v1::Command::kSuspend:
            return SuspendTable{table, text(message.suspend().reason(), "a reason"),
                                text(message.suspend().by(), "a name")};
        case v1::Command::kResume:
            return ResumeTable{table, text(message.resume().reason(), "a reason"),
                               text(message.resume().by(), "a name")};
        case v1::Command::WHAT_NOT_SET: break;
    }
    throw Malformed{"it asks for nothing that this version knows"};
}

std::string owned(std::string_view text) { return std::string{text}; }

template <class Message>
void writeAwards(Message& into, const std::vector<Award>& awards, std::uint32_t table,
                 v1::Award* (Message::*add)())
{
    for (const Award& award : awards) {
        if (award.table != table) continue;
        v1::Award& message = *(into.*add)();
        message.set_round(award.round);
        message.set_seat(award.seat);
        message.set_tier(owned(idOf(award.tier)));
        message.set_amount_cents(award.amount.cents());
        message.set_rule(owned(award.rule));
        message.set_arithmetic(arithmeticInWords(award));
    }
}

template <class Message>
void writeClaims(Message& into, const std::vector<ClaimChange>& claims, std::uint32_t table)
{
    for (const ClaimChange& claim : claims) {
        if (claim.table != table) continue;
        v1::Claim& message = *into.add_claims();
        message.set_round(claim.round);
        message.set_seat(claim.seat);
        message.set_tier(owned(idOf(claim.tier)));
        message.set_state(owned(idOf(claim.state)));
    }
}

}  // namespace

Result<Command> readCommand(const v1::Command& message, const std::string& table,
                            const Pseudonym& pseudonym)
{
    try {
        return commandOf(message, table, pseudonym);
    } catch (const Malformed& malformed) {
        return Error{malformed.what};
    }
}

std::unique_ptr<v1::Decision> toDecision(const Outcome& outcome, std::uint32_t table)
{
    if (!outcome.refusal && outcome.awards.empty() && outcome.withdrawn.empty() &&
        outcome.refunds.empty() && outcome.claims.empty())
        return nullptr;
    auto details = std::make_unique<v1::Decision>();
    v1::Decision& decision = *details;
    if (outcome.refusal) {
        v1::Refusal& refusal = *decision.mutable_refusal();
        refusal.set_code(owned(idOf(outcome.refusal->code)));
        refusal.set_rule(owned(outcome.refusal->rule));
        refusal.set_detail(outcome.refusal->detail);
        return details;
    }
    writeAwards(decision, outcome.awards, table, &v1::Decision::add_awards);
    writeAwards(decision, outcome.withdrawn, table, &v1::Decision::add_withdrawn);
    for (const Refund& refund : outcome.refunds) {
        if (refund.table != table) continue;
        v1::Refund& message = *decision.add_refunds();
        message.set_round(refund.round);
        message.set_seat(refund.seat);
        message.set_amount_cents(refund.amount.cents());
    }
    writeClaims(decision, outcome.claims, table);
    limitClaims(decision);
    return details;
}

void limitClaims(v1::Decision& decision)
{
    const int count = decision.claims_size();
    if (count > kMaxClaims) decision.mutable_claims()->DeleteSubrange(0, count - kMaxClaims);
}

bool writeSettlement(v1::Settlement& settlement, const Outcome& outcome, std::uint32_t table)
{
    writeAwards(settlement, outcome.awards, table, &v1::Settlement::add_awards);
    writeClaims(settlement, outcome.claims, table);
    return settlement.awards_size() > 0 || settlement.claims_size() > 0;
}

void writeNews(v1::PoolNews& message, const Pool& pool)
{
    message.set_pool(pool.config.id);
    message.set_displayed_cents(pool.displayed().cents());
    message.set_open(!pool.suspended);
    message.set_pending(pool.isPending());
    message.set_held(pool.isHeld());
}

void writeState(v1::TableState& message, const State& state, std::uint32_t index)
{
    const Table& table = state.tables[index];
    const Pool& pool = state.pools[table.pool];
    message.set_table(table.config.id);
    message.set_game(owned(idOf(pool.config.game)));
    message.set_seats(table.config.seats);
    message.set_require_player_card(table.config.requirePlayerCard);
    message.set_wager_cents(pool.config.wager.cents());
    message.set_suspended(table.suspended);
    message.set_round_opened(table.current.opened);
    message.set_round(table.current.number);
    message.set_result_in(table.current.resultIn);
    message.set_voided(table.current.voided);
    message.set_confirmed(table.current.confirmed);
    for (int number = 1; number <= kMaxSeats; ++number) {
        const Seat& seat = table.current.seat(number);
        if (!seat.wagered) continue;
        v1::Seat& wagered = *message.add_wagered();
        wagered.set_seat(number);
        if (seat.tier != Tier::None) wagered.set_tier(owned(idOf(seat.tier)));
        wagered.set_claims(seat.claims);
    }
    // A frame holds some hundred; who owes more than that to one table asks the desk.
    constexpr std::size_t kMaxDue = 64;
    for (const DueAward& due : table.jackpotsDue) {
        if (static_cast<std::size_t>(message.due_size()) == kMaxDue) break;
        v1::DueAward& award = *message.add_due();
        award.set_round(due.round);
        award.set_seat(due.seat);
        award.set_tier(owned(idOf(due.tier)));
        award.set_amount_cents(due.amount.cents());
    }
    writeNews(*message.mutable_pool(), pool);
    message.set_wagers(table.wagers);
    message.set_last_number(table.sequence.last());
}

}  // namespace jackpot::linkproto
