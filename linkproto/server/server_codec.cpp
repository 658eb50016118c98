#include "linkproto/server/server_codec.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/utf8.h"

namespace jackpot::linkproto {
namespace {

using namespace rules;

// So many fit into a frame.
constexpr std::size_t kMaxOfAList = 10;  // in a decision or settlement
constexpr std::size_t kMaxDue = 64;      // in a table's state; the desk has all
constexpr std::size_t kMaxWithheld = 32;

static_assert(v2::Rejected::CONFLICT == static_cast<int>(RejectionReason::Conflict) &&
              v2::Rejected::OUT_OF_ORDER == static_cast<int>(RejectionReason::OutOfOrder) &&
              v2::Rejected::MALFORMED == static_cast<int>(RejectionReason::Malformed) &&
              v2::Rejected::TOO_FAST == static_cast<int>(RejectionReason::TooFast));
static_assert(v2::Goodbye::VERSION == static_cast<int>(GoodbyeReason::Version) &&
              v2::Goodbye::NOT_A_TABLE == static_cast<int>(GoodbyeReason::NotATable) &&
              v2::Goodbye::REPLACED == static_cast<int>(GoodbyeReason::Replaced) &&
              v2::Goodbye::SILENT == static_cast<int>(GoodbyeReason::Silent) &&
              v2::Goodbye::BAD_FRAME == static_cast<int>(GoodbyeReason::BadFrame) &&
              v2::Goodbye::TOO_MUCH == static_cast<int>(GoodbyeReason::TooMuch) &&
              v2::Goodbye::BUSY == static_cast<int>(GoodbyeReason::Busy) &&
              v2::Goodbye::SHUTDOWN == static_cast<int>(GoodbyeReason::Shutdown) &&
              v2::Goodbye::UNAVAILABLE == static_cast<int>(GoodbyeReason::Unavailable) &&
              v2::Goodbye::LOCKED == static_cast<int>(GoodbyeReason::Locked));

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

ReportResult resultOf(const v2::ReportResult& message, const std::string& table)
{
    ReportResult result{table, message.round(), {}, {}};
    requireFew(message.board_size(), "cards on the board");
    requireFew(message.hands_size(), "hands");
    for (const std::string& card : message.board()) result.board.push_back(text(card, "a card"));
    for (const v2::Hand& hand : message.hands()) {
        requireFew(hand.cards_size(), "cards in a hand");
        Hand& to = result.hands.emplace_back();
        to.seat = hand.seat();
        for (const std::string& card : hand.cards()) to.cards.push_back(text(card, "a card"));
    }
    return result;
}

People peopleOf(const std::string& by)
{
    return by.empty() ? People{} : People{text(by, "a name")};
}

// The grounds of `Ground` from 1 on are those of the message's enumeration, in the same order. What
// takes two people is not there: a table can't do it.
template <class Ground, class Wire>
Ground groundOf(Wire ground, Wire last)
{
    if (ground < 1 || ground > last) throw Malformed{"it has no ground that this version knows"};
    return static_cast<Ground>(ground - 1);
}

static_assert(v2::VoidRound::DEALING_ERROR - 1 == static_cast<int>(VoidRoundGround::DealingError) &&
              v2::VoidRound::MISSING_OR_FOREIGN_CARD - 1 ==
                  static_cast<int>(VoidRoundGround::MissingOrForeignCard) &&
              v2::VoidRound::SHUFFLING_DEVICE - 1 ==
                  static_cast<int>(VoidRoundGround::ShufflingDevice));
static_assert(v2::VoidWager::INVALID_WAGER - 1 == static_cast<int>(VoidWagerGround::InvalidWager) &&
              v2::VoidWager::LOSS_LIMIT - 1 == static_cast<int>(VoidWagerGround::LossLimit) &&
              v2::VoidWager::PROHIBITED_DEVICE - 1 ==
                  static_cast<int>(VoidWagerGround::ProhibitedDevice) &&
              v2::VoidWager::REFUSED - 1 == static_cast<int>(VoidWagerGround::Refused));
static_assert(v2::Suspend::MALFUNCTION - 1 == static_cast<int>(SuspensionGround::Malfunction) &&
              v2::Suspend::CLOSED - 1 == static_cast<int>(SuspensionGround::Closed) &&
              v2::Suspend::TOURNAMENT - 1 == static_cast<int>(SuspensionGround::Tournament));

VoidRound voidOf(const v2::VoidRound& message, const std::string& table)
{
    return {.table = table,
            .round = message.round(),
            .ground = groundOf<VoidRoundGround>(message.ground(), v2::VoidRound::Ground_MAX),
            .forfeited = {},
            .reason = text(message.reason(), "a reason"),
            .by = peopleOf(message.by())};
}

VoidWager voidOf(const v2::VoidWager& message, const std::string& table)
{
    return {.table = table,
            .round = message.round(),
            .seat = message.seat(),
            .ground = groundOf<VoidWagerGround>(message.ground(), v2::VoidWager::Ground_MAX),
            .reason = text(message.reason(), "a reason"),
            .by = peopleOf(message.by())};
}

SuspendTable suspensionOf(const v2::Suspend& message, const std::string& table)
{
    return {.table = table,
            .ground = groundOf<SuspensionGround>(message.ground(), v2::Suspend::Ground_MAX),
            .from = Origin::Table,
            .reason = text(message.reason(), "a reason"),
            .by = peopleOf(message.by())};
}

Command commandOf(const v2::Command& message, const std::string& table, const Pseudonym& pseudonym)
{
    switch (message.what_case()) {
        case v2::Command::kOpenRound: {
            OpenRound open{table, message.open_round().round(), {}};
            requireFew(message.open_round().wagers_size(), "wagers");
            open.wagers.reserve(static_cast<std::size_t>(message.open_round().wagers_size()));
            for (const v2::Wager& wager : message.open_round().wagers()) {
                const std::string& card = text(wager.player_card(), "a player card");
                open.wagers.push_back({wager.seat(), !wager.no_base_wager(),
                                       card.empty() ? std::string{} : pseudonym(card),
                                       text(wager.approved_by(), "an approver's name")});
            }
            return open;
        }
        case v2::Command::kReportResult: return resultOf(message.report_result(), table);
        case v2::Command::kCorrectResult:
            return CorrectResult{resultOf(message.correct_result().result(), table),
                                 peopleOf(message.correct_result().by())};
        case v2::Command::kConfirmJackpot:
            return ConfirmJackpot{table, message.confirm_jackpot().round(),
                                  static_cast<std::int64_t>(std::min<std::uint64_t>(
                                      message.age_ms(), std::numeric_limits<std::int32_t>::max()))};
        case v2::Command::kCloseRound: return CloseRound{table, message.close_round().round()};
        case v2::Command::kVoidRound: return voidOf(message.void_round(), table);
        case v2::Command::kVoidWager: return voidOf(message.void_wager(), table);
        case v2::Command::kSuspend: return suspensionOf(message.suspend(), table);
        case v2::Command::kResume:
            return ResumeTable{table, Origin::Table, text(message.resume().reason(), "a reason"),
                               peopleOf(message.resume().by())};
        case v2::Command::WHAT_NOT_SET: break;
    }
    throw Malformed{"it asks for nothing that this version knows"};
}

std::string owned(std::string_view text) { return std::string{text}; }

void write(v2::Award& message, const linkproto::Award& award)
{
    message.set_round(award.round);
    message.set_seat(award.seat);
    message.set_tier(owned(idOf(award.tier)));
    message.set_amount_cents(award.amount.cents());
    message.set_rule(award.rule);
    message.set_arithmetic(award.arithmetic);
    message.set_player(award.player);
}

void write(v2::Claim& message, const Claim& claim)
{
    message.set_round(claim.round);
    message.set_seat(claim.seat);
    message.set_tier(owned(idOf(claim.tier)));
    message.set_state(owned(idOf(claim.state)));
}

void write(v2::Refund& message, const linkproto::Refund& refund)
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

void write(v2::PoolNews& message, const PoolNews& news)
{
    message.set_pool(news.pool);
    message.set_displayed_cents(news.displayedCents);
    message.set_open(news.isOpen);
    message.set_locked(news.isLocked);
    message.set_held(news.isHeld);
    message.set_unavailable(news.isUnavailable);
}

std::size_t messagesFor(std::size_t entries) { return (entries + kMaxOfAList - 1) / kMaxOfAList; }

// All withdrawals come before what replaces them: so many messages before the others begin.
std::size_t onlyWithdrawn(const Details& details)
{
    return details.withdrawn.empty() ? 0 : messagesFor(details.withdrawn.size()) - 1;
}

std::size_t messagesFor(const Details& details)
{
    const std::size_t longest =
        std::max({details.awards.size(), details.locked.size(), details.withheld.size(),
                  details.released.size(), details.refunds.size(), details.claims.size()});
    return std::max(messagesFor(details.withdrawn.size()),
                    onlyWithdrawn(details) + messagesFor(longest));
}

// The lists that a Decision and a Settlement have, in the message with this index.
template <class Message>
void writeLists(Message& message, const Details& details, std::size_t index)
{
    const auto write = [](auto* to, const auto& list, std::size_t messages) {
        writeAll(to, part(list, messages * kMaxOfAList, kMaxOfAList));
    };
    write(message.mutable_withdrawn(), details.withdrawn, index);
    if (index < onlyWithdrawn(details)) return;
    index -= onlyWithdrawn(details);
    write(message.mutable_awards(), details.awards, index);
    write(message.mutable_locked(), details.locked, index);
    write(message.mutable_refunds(), details.refunds, index);
    write(message.mutable_claims(), details.claims, index);
    if constexpr (std::is_same_v<Message, v2::Settlement>) {
        write(message.mutable_withheld(), details.withheld, index);
        write(message.mutable_released(), details.released, index);
    }
}

std::vector<v2::ToTable> settlements(std::uint64_t record, std::int64_t displayedCents,
                                     const Details& details, std::size_t first,
                                     const v2::Receipt& receipt)
{
    std::vector<v2::ToTable> messages;
    for (std::size_t index = first; index < messagesFor(details); ++index) {
        v2::Settlement& message = *messages.emplace_back().mutable_settlement();
        message.set_record(record);
        message.set_displayed_cents(displayedCents);
        writeLists(message, details, index);
        *message.mutable_receipt() = receipt;
    }
    return messages;
}

ClaimState stateOf(const Win& win)
{
    if (win.hold != 0) return ClaimState::Held;
    return win.due ? ClaimState::Due : ClaimState::Locked;
}

void writeClaims(v2::TableState& message, const Round& round, ClaimState state)
{
    for (int number = 1; number <= kMaxSeats; ++number)
        if (const Seat& seat = round.seat(number); seat.claims)
            write(*message.add_claims(), Claim{round.number, number, seat.tier, state});
}

void writeAwards(v2::TableState& message, const Table& table)
{
    const auto add = [](auto* list, const AwardRecord& award, std::size_t most) {
        if (static_cast<std::size_t>(list->size()) < most)
            write(*list->Add(),
                  linkproto::Award{award.round, award.seat, award.tier, award.amount, {}, {}, {}});
    };
    const auto addOne = [&](const AwardRecord& award) {
        if (award.state == AwardRecord::State::Locked)
            add(message.mutable_locked(), award, kMaxOpenWins * kMaxSeats);
        else if (award.withheld)
            add(message.mutable_withheld(), award, kMaxWithheld);
        else if (award.state == AwardRecord::State::Due && award.payments == 0)
            add(message.mutable_due(), award, kMaxDue);
    };
    for (const AwardRecord& jackpot : table.jackpots) addOne(jackpot);
    // A bonus becomes due with its round's jackpots, and is known as long as they are.
    for (const AwardRecord& bonus : table.awards)
        if (bonus.tier == Tier::Bonus &&
            std::ranges::find(table.jackpots, bonus.round, &AwardRecord::round) !=
                table.jackpots.end())
            addOne(bonus);
}

void write(v2::TableState& message, const TableState& state)
{
    const Table& table = state.table;
    message.set_table(table.config.id);
    message.set_game(owned(idOf(state.game)));
    message.set_seats(table.config.seats);
    message.set_require_player_card(table.config.requirePlayerCard);
    message.set_wager_cents(state.wager.cents());
    message.set_suspended(table.suspended.has_value());
    message.set_suspended_by_desk(table.suspended == Origin::Desk);
    message.set_round_opened(table.current.opened);
    message.set_round(table.current.number);
    message.set_result_in(table.current.resultIn);
    message.set_voided(table.current.voided);
    message.set_closed(table.current.closed);
    message.set_confirmed(table.current.confirmed);
    for (int number = 1; number <= kMaxSeats; ++number) {
        const Seat& seat = table.current.seat(number);
        if (!seat.wagered) continue;
        v2::Seat& wagered = *message.add_wagered();
        wagered.set_seat(number);
        if (seat.tier != Tier::None) wagered.set_tier(owned(idOf(seat.tier)));
    }
    if (table.current.hasUnconfirmedClaims())
        writeClaims(message, table.current, ClaimState::Claimed);
    for (const Win& win : state.wins)
        if (const Round* const round = table.findRound(win.round))
            writeClaims(message, *round, stateOf(win));
    writeAwards(message, table);
    write(*message.mutable_pool(), state.pool);
    message.set_wagers(table.wagers);
    message.set_last_number(table.sequence.last());
}

}  // namespace

Result<Command> readCommand(const v2::Command& message, const std::string& table,
                            const Pseudonym& pseudonym)
{
    try {
        return commandOf(message, table, pseudonym);
    } catch (const Malformed& malformed) {
        return Error{malformed.what};
    }
}

void writeDecision(v2::Decision& message, const Decision& decision)
{
    message.set_number(decision.number);
    message.set_record(decision.record);
    message.set_displayed_cents(decision.displayedCents);
    if (!decision.details) return;
    const Details& details = *decision.details;
    if (details.refusal) {
        v2::Refusal& refusal = *message.mutable_refusal();
        refusal.set_code(owned(idOf(details.refusal->code)));
        refusal.set_rule(details.refusal->rule);
        refusal.set_detail(details.refusal->detail);
    }
    writeLists(message, details, 0);
}

std::vector<v2::ToTable> overflowOf(const Decision& decision, const v2::Receipt& receipt)
{
    if (!decision.details) return {};
    return settlements(decision.record, decision.displayedCents, *decision.details, 1, receipt);
}

v2::Receipt toMessage(const Receipt& receipt)
{
    v2::Receipt message;
    message.set_size(receipt.size);
    message.set_root(receipt.root);
    message.set_note(receipt.note);
    return message;
}

std::vector<v2::ToTable> toMessages(const Settlement& settlement, const v2::Receipt& receipt)
{
    return settlements(settlement.record, settlement.displayedCents, settlement.details, 0,
                       receipt);
}

std::vector<v2::ToTable> toMessages(const RepeatedDecision& repeated)
{
    const v2::Receipt receipt = toMessage(repeated.receipt);
    std::vector<v2::ToTable> messages = overflowOf(repeated.decision, receipt);
    v2::Decisions& decisions =
        *messages.insert(messages.begin(), v2::ToTable{})->mutable_decisions();
    v2::Decision& decision = *decisions.add_decisions();
    writeDecision(decision, repeated.decision);
    decision.set_again(true);
    *decisions.mutable_receipt() = receipt;
    return messages;
}

v2::ToTable toMessage(const Rejection& rejection)
{
    v2::ToTable message;
    v2::Rejected& rejected = *message.mutable_rejected();
    rejected.set_number(rejection.number);
    rejected.set_why(static_cast<v2::Rejected::Why>(rejection.reason));
    rejected.set_expected(rejection.expected);
    rejected.set_detail(rejection.detail);
    return message;
}

v2::ToTable toMessage(const Suspension& suspension)
{
    v2::ToTable message;
    message.mutable_suspension()->set_suspended(suspension.isSuspended);
    message.mutable_suspension()->set_by_desk(suspension.byDesk);
    message.mutable_suspension()->set_reason(suspension.reason);
    return message;
}

v2::ToTable toMessage(const PoolNews& news)
{
    v2::ToTable message;
    write(*message.mutable_pool(), news);
    return message;
}

v2::ToTable toMessage(const TableState& state)
{
    v2::ToTable message;
    write(*message.mutable_state(), state);
    return message;
}

v2::ToTable toMessage(const Welcome& welcome)
{
    v2::ToTable message;
    v2::Welcome& to = *message.mutable_welcome();
    to.set_version(kLinkVersion);
    to.set_site(welcome.site);
    to.set_verifier(welcome.verifier);
    to.set_last_number(welcome.state.table.sequence.last());
    to.set_restored(welcome.isRestored);
    write(*to.mutable_state(), welcome.state);
    return message;
}

v2::ToTable toMessage(const Goodbye& goodbye)
{
    v2::ToTable message;
    message.mutable_goodbye()->set_why(static_cast<v2::Goodbye::Why>(goodbye.reason));
    message.mutable_goodbye()->set_detail(goodbye.detail.substr(0, kMaxTextBytes));
    return message;
}

}  // namespace jackpot::linkproto
