#include "linkproto/server/server_codec.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/utf8.h"

namespace jackpot::linkproto {
namespace {

using namespace rules;

// So many fit into a frame.
constexpr std::size_t kMaxClaims = 64;        // in a decision
constexpr std::size_t kMaxInSettlement = 24;  // awards, and claims
constexpr std::size_t kMaxDue = 64;           // in a table's state; the desk has all

static_assert(v1::Rejected::CONFLICT == static_cast<int>(RejectionReason::Conflict) &&
              v1::Rejected::OUT_OF_ORDER == static_cast<int>(RejectionReason::OutOfOrder) &&
              v1::Rejected::MALFORMED == static_cast<int>(RejectionReason::Malformed) &&
              v1::Rejected::TOO_FAST == static_cast<int>(RejectionReason::TooFast));
static_assert(v1::Goodbye::VERSION == static_cast<int>(GoodbyeReason::Version) &&
              v1::Goodbye::NOT_A_TABLE == static_cast<int>(GoodbyeReason::NotATable) &&
              v1::Goodbye::REPLACED == static_cast<int>(GoodbyeReason::Replaced) &&
              v1::Goodbye::SILENT == static_cast<int>(GoodbyeReason::Silent) &&
              v1::Goodbye::BAD_FRAME == static_cast<int>(GoodbyeReason::BadFrame) &&
              v1::Goodbye::TOO_MUCH == static_cast<int>(GoodbyeReason::TooMuch) &&
              v1::Goodbye::BUSY == static_cast<int>(GoodbyeReason::Busy) &&
              v1::Goodbye::SHUTDOWN == static_cast<int>(GoodbyeReason::Shutdown) &&
              v1::Goodbye::UNAVAILABLE == static_cast<int>(GoodbyeReason::Unavailable) &&
              v1::Goodbye::LOCKED == static_cast<int>(GoodbyeReason::Locked));

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

void write(v1::Award& message, const linkproto::Award& award)
{
    message.set_round(award.round);
    message.set_seat(award.seat);
    message.set_tier(owned(idOf(award.tier)));
    message.set_amount_cents(award.amount.cents());
    message.set_rule(award.rule);
    message.set_arithmetic(award.arithmetic);
}

void write(v1::Claim& message, const Claim& claim)
{
    message.set_round(claim.round);
    message.set_seat(claim.seat);
    message.set_tier(owned(idOf(claim.tier)));
    message.set_state(owned(idOf(claim.state)));
}

void write(v1::Refund& message, const linkproto::Refund& refund)
{
    message.set_round(refund.round);
    message.set_seat(refund.seat);
    message.set_amount_cents(refund.amount.cents());
}

template <class Messages, class Entries>
void writeAll(Messages* messages, const Entries& entries)
{
    for (const auto& each : entries) write(*messages->Add(), each);
}

// At most `count` of the list, from `first` on.
template <class T>
std::span<const T> part(const std::vector<T>& list, std::size_t first, std::size_t count)
{
    first = std::min(first, list.size());
    return std::span{list}.subspan(first, std::min(count, list.size() - first));
}

void write(v1::PoolNews& message, const PoolNews& news)
{
    message.set_pool(news.pool);
    message.set_displayed_cents(news.displayedCents);
    message.set_open(news.isOpen);
    message.set_pending(news.isPending);
    message.set_held(news.isHeld);
    message.set_unavailable(news.isUnavailable);
}

void write(v1::TableState& message, const TableState& state)
{
    const Table& table = state.table;
    message.set_table(table.config.id);
    message.set_game(owned(idOf(state.game)));
    message.set_seats(table.config.seats);
    message.set_require_player_card(table.config.requirePlayerCard);
    message.set_wager_cents(state.wager.cents());
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
    for (const DueAward& due : part(table.jackpotsDue, 0, kMaxDue)) {
        v1::DueAward& award = *message.add_due();
        award.set_round(due.round);
        award.set_seat(due.seat);
        award.set_tier(owned(idOf(due.tier)));
        award.set_amount_cents(due.amount.cents());
    }
    write(*message.mutable_pool(), state.pool);
    message.set_wagers(table.wagers);
    message.set_last_number(table.sequence.last());
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

void writeDecision(v1::Decision& message, const Decision& decision)
{
    message.set_number(decision.number);
    message.set_record(decision.record);
    message.set_displayed_cents(decision.displayedCents);
    if (!decision.details) return;
    const Details& details = *decision.details;
    if (details.refusal) {
        v1::Refusal& refusal = *message.mutable_refusal();
        refusal.set_code(owned(idOf(details.refusal->code)));
        refusal.set_rule(details.refusal->rule);
        refusal.set_detail(details.refusal->detail);
    }
    writeAll(message.mutable_awards(), details.awards);
    writeAll(message.mutable_withdrawn(), details.withdrawn);
    writeAll(message.mutable_refunds(), details.refunds);
    const std::size_t claims = details.claims.size();
    writeAll(message.mutable_claims(),
             part(details.claims, claims - std::min(claims, kMaxClaims), kMaxClaims));
}

v1::Receipt toMessage(const Receipt& receipt)
{
    v1::Receipt message;
    message.set_size(receipt.size);
    message.set_root(receipt.root);
    message.set_note(receipt.note);
    return message;
}

std::vector<v1::ToTable> toMessages(const Settlement& settlement, const v1::Receipt& receipt)
{
    std::vector<v1::ToTable> messages;
    const std::size_t count = std::max(settlement.awards.size(), settlement.claims.size());
    for (std::size_t first = 0; first < count; first += kMaxInSettlement) {
        v1::Settlement& message = *messages.emplace_back().mutable_settlement();
        message.set_record(settlement.record);
        message.set_displayed_cents(settlement.displayedCents);
        writeAll(message.mutable_awards(), part(settlement.awards, first, kMaxInSettlement));
        writeAll(message.mutable_claims(), part(settlement.claims, first, kMaxInSettlement));
        *message.mutable_receipt() = receipt;
    }
    return messages;
}

v1::ToTable toMessage(const RepeatedDecision& repeated)
{
    v1::ToTable message;
    v1::Decisions& decisions = *message.mutable_decisions();
    v1::Decision& decision = *decisions.add_decisions();
    writeDecision(decision, repeated.decision);
    decision.set_again(true);
    *decisions.mutable_receipt() = toMessage(repeated.receipt);
    return message;
}

v1::ToTable toMessage(const Rejection& rejection)
{
    v1::ToTable message;
    v1::Rejected& rejected = *message.mutable_rejected();
    rejected.set_number(rejection.number);
    rejected.set_why(static_cast<v1::Rejected::Why>(rejection.reason));
    rejected.set_expected(rejection.expected);
    rejected.set_detail(rejection.detail);
    return message;
}

v1::ToTable toMessage(const Suspension& suspension)
{
    v1::ToTable message;
    message.mutable_suspension()->set_suspended(suspension.isSuspended);
    message.mutable_suspension()->set_reason(suspension.reason);
    return message;
}

v1::ToTable toMessage(const PoolNews& news)
{
    v1::ToTable message;
    write(*message.mutable_pool(), news);
    return message;
}

v1::ToTable toMessage(const TableState& state)
{
    v1::ToTable message;
    write(*message.mutable_state(), state);
    return message;
}

v1::ToTable toMessage(const Welcome& welcome)
{
    v1::ToTable message;
    v1::Welcome& to = *message.mutable_welcome();
    to.set_version(kLinkVersion);
    to.set_site(welcome.site);
    to.set_verifier(welcome.verifier);
    to.set_last_number(welcome.state.table.sequence.last());
    to.set_restored(welcome.isRestored);
    write(*to.mutable_state(), welcome.state);
    return message;
}

v1::ToTable toMessage(const Goodbye& goodbye)
{
    v1::ToTable message;
    message.mutable_goodbye()->set_why(static_cast<v1::Goodbye::Why>(goodbye.reason));
    message.mutable_goodbye()->set_detail(goodbye.detail.substr(0, kMaxTextBytes));
    return message;
}

}  // namespace jackpot::linkproto
