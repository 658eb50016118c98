#include "linkproto/client/client_codec.h"

namespace jackpot::linkproto {
namespace {

namespace wire = link::v2;

void fill(wire::ReportResult& to, const link::ReportResult& from)
{
    to.set_round(from.round);
    for (const auto& card : from.board) to.add_board(card);
    for (const auto& hand : from.hands) {
        auto& added = *to.add_hands();
        added.set_seat(hand.seat);
        for (const auto& card : hand.cards) added.add_cards(card);
    }
}

static_assert(wire::VoidRound::DEALING_ERROR ==
                  static_cast<int>(link::VoidRoundGround::DealingError) &&
              wire::VoidRound::SHUFFLING_DEVICE ==
                  static_cast<int>(link::VoidRoundGround::ShufflingDevice));
static_assert(wire::VoidWager::INVALID_WAGER ==
                  static_cast<int>(link::VoidWagerGround::InvalidWager) &&
              wire::VoidWager::REFUSED == static_cast<int>(link::VoidWagerGround::Refused));
static_assert(wire::Suspend::MALFUNCTION == static_cast<int>(link::SuspensionGround::Malfunction) &&
              wire::Suspend::TOURNAMENT == static_cast<int>(link::SuspensionGround::Tournament));

template <class To, class From>
void fillReason(To& to, const From& from)
{
    to.set_reason(from.reason);
    to.set_by(from.by);
}

struct Fill {
    wire::Command& to;

    void operator()(const link::OpenRound& from) const
    {
        auto& open = *to.mutable_open_round();
        open.set_round(from.round);
        for (const auto& wager : from.wagers) {
            auto& added = *open.add_wagers();
            added.set_seat(wager.seat);
            added.set_no_base_wager(!wager.baseWager);
            added.set_player_card(wager.playerCard);
            added.set_approved_by(wager.approvedBy);
        }
    }
    void operator()(const link::ReportResult& from) const
    {
        fill(*to.mutable_report_result(), from);
    }
    void operator()(const link::CorrectResult& from) const
    {
        fill(*to.mutable_correct_result()->mutable_result(), from.result);
        to.mutable_correct_result()->set_by(from.by);
    }
    void operator()(const link::ConfirmJackpot& from) const
    {
        to.mutable_confirm_jackpot()->set_round(from.round);
    }
    void operator()(const link::CloseRound& from) const
    {
        to.mutable_close_round()->set_round(from.round);
    }
    void operator()(const link::VoidRound& from) const
    {
        to.mutable_void_round()->set_round(from.round);
        to.mutable_void_round()->set_ground(static_cast<wire::VoidRound::Ground>(from.ground));
        fillReason(*to.mutable_void_round(), from);
    }
    void operator()(const link::VoidWager& from) const
    {
        to.mutable_void_wager()->set_round(from.round);
        to.mutable_void_wager()->set_seat(from.seat);
        to.mutable_void_wager()->set_ground(static_cast<wire::VoidWager::Ground>(from.ground));
        fillReason(*to.mutable_void_wager(), from);
    }
    void operator()(const link::Suspend& from) const
    {
        to.mutable_suspend()->set_ground(static_cast<wire::Suspend::Ground>(from.ground));
        fillReason(*to.mutable_suspend(), from);
    }
    void operator()(const link::Resume& from) const { fillReason(*to.mutable_resume(), from); }
};

link::Award fromWire(const wire::Award& from)
{
    return {.round = from.round(),
            .seat = from.seat(),
            .tier = from.tier(),
            .amountCents = from.amount_cents(),
            .rule = from.rule(),
            .arithmetic = from.arithmetic(),
            .player = from.player()};
}

link::Refund fromWire(const wire::Refund& from)
{
    return {.round = from.round(), .seat = from.seat(), .amountCents = from.amount_cents()};
}

link::Claim fromWire(const wire::Claim& from)
{
    return {.round = from.round(), .seat = from.seat(), .tier = from.tier(), .state = from.state()};
}

link::Seat fromWire(const wire::Seat& from) { return {.seat = from.seat(), .tier = from.tier()}; }

template <class To, class From>
std::vector<To> listOf(const From& from)
{
    std::vector<To> list;
    list.reserve(static_cast<std::size_t>(from.size()));
    for (const auto& each : from) list.push_back(fromWire(each));
    return list;
}

}  // namespace

wire::Command toWire(const link::Command& command)
{
    wire::Command to;
    std::visit(Fill{to}, command);
    return to;
}

link::Decision fromWire(const wire::Decision& from)
{
    link::Decision to;
    to.number = from.number();
    to.record = from.record();
    if (from.has_refusal())
        to.refusal = link::Refusal{.code = from.refusal().code(),
                                   .rule = from.refusal().rule(),
                                   .detail = from.refusal().detail()};
    to.withdrawn = listOf<link::Award>(from.withdrawn());
    to.awards = listOf<link::Award>(from.awards());
    to.locked = listOf<link::Award>(from.locked());
    to.refunds = listOf<link::Refund>(from.refunds());
    to.claims = listOf<link::Claim>(from.claims());
    to.displayedCents = from.displayed_cents();
    to.again = from.again();
    return to;
}

link::Settlement fromWire(const wire::Settlement& from)
{
    return {.record = from.record(),
            .withdrawn = listOf<link::Award>(from.withdrawn()),
            .awards = listOf<link::Award>(from.awards()),
            .locked = listOf<link::Award>(from.locked()),
            .withheld = listOf<link::Award>(from.withheld()),
            .released = listOf<link::Award>(from.released()),
            .refunds = listOf<link::Refund>(from.refunds()),
            .claims = listOf<link::Claim>(from.claims()),
            .displayedCents = from.displayed_cents()};
}

link::PoolNews fromWire(const wire::PoolNews& from)
{
    return {.pool = from.pool(),
            .displayedCents = from.displayed_cents(),
            .open = from.open(),
            .locked = from.locked(),
            .held = from.held(),
            .unavailable = from.unavailable()};
}

link::TableState fromWire(const wire::TableState& from)
{
    link::TableState to;
    to.table = from.table();
    to.game = from.game();
    to.seats = from.seats();
    to.requirePlayerCard = from.require_player_card();
    to.wagerCents = from.wager_cents();
    to.suspended = from.suspended();
    to.suspendedByDesk = from.suspended_by_desk();
    if (from.round_opened()) to.round = from.round();
    to.resultIn = from.result_in();
    to.voided = from.voided();
    to.closed = from.closed();
    to.confirmed = from.confirmed();
    to.wagered = listOf<link::Seat>(from.wagered());
    to.claims = listOf<link::Claim>(from.claims());
    to.locked = listOf<link::Award>(from.locked());
    to.due = listOf<link::Award>(from.due());
    to.withheld = listOf<link::Award>(from.withheld());
    to.pool = fromWire(from.pool());
    to.wagers = from.wagers();
    to.lastNumber = from.last_number();
    return to;
}

}  // namespace jackpot::linkproto
