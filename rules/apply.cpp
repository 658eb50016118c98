#include "rules/apply.h"

#include <algorithm>
#include <bitset>

#include "rules/amendment.h"
#include "rules/invariants.h"
#include "rules/pool_ledger.h"
#include "rules/results.h"
#include "rules/settlement.h"
#include "rules/simultaneous.h"

namespace jackpot::rules {
namespace {

using Refused = std::optional<Refusal>;
constexpr std::nullopt_t kAccepted = std::nullopt;

// BJ 16.16.4, UTH 11.7.4.
bool concernsMissingOrForeignCard(std::string_view reason)
{
    std::string lower{reason};
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower.find("missing card") != std::string::npos ||
           lower.find("foreign card") != std::string::npos;
}

class Engine {
public:
    Engine(State& state, TimeMs now, Outcome& outcome) : state_{state}, now_{now}, out_{outcome} {}

    Refused operator()(const ConfigureSite& command)
    {
        Site site = command.site;
        // A pool in play opened long ago, perhaps under other parameters.
        for (PoolConfig& pool : site.pools)
            if (state_.findPool(pool.id)) pool.opening.reset();
        if (auto refused = checkValid(site)) return refused;
        if (auto refused = checkAmendment(state_, site)) return refused;
        amend(state_, site, out_);
        return kAccepted;
    }

    Refused operator()(const OpenRound& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        Pool& pool = poolOf(*table);

        if (table->suspended)
            return refuse(
                RefusalCode::TableSuspended, rule("BJ 16.18", "UTH 11.11"),
                "table " + command.table + " plays without the jackpot until it is resumed");
        if (pool.suspended)
            return refuse(RefusalCode::PoolSuspended, "",
                          "pool " + pool.config.id + " takes no wagers until it is resumed");
        if (table->current.opened && command.round <= table->current.number)
            return refuse(RefusalCode::RoundNotNewer, "",
                          "round " + std::to_string(command.round) + " comes after round " +
                              std::to_string(table->current.number) + ": number rounds upwards");
        if (table->current.hasUnconfirmedClaims())
            return refuse(
                RefusalCode::ClaimUnconfirmed, rule("BJ 14.27.4", "UTH 15.2.13"),
                "round " + std::to_string(table->current.number) +
                    " has a jackpot that is not confirmed: press the button or correct the result");
        if (auto refused = checkWagers(command, *table)) return refused;
        if (auto refused = checkRoom(
                pool, pool.config.wager * static_cast<std::int64_t>(command.wagers.size())))
            return refused;

        if (table->current.awaitsSettlement()) table->waiting.push_back(std::move(table->current));
        Round& round = table->current;
        round.startAnew(command.round);
        for (const Wager& wager : command.wagers) {
            Seat& seat = round.seat(static_cast<int>(wager.seat));
            seat.wagered = true;
            seat.playerCard = wager.playerCard;
        }
        table->wagers += command.wagers.size();
        contribute(pool, round);
        return kAccepted;
    }

    Refused operator()(const ReportResult& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        if (auto refused = checkCurrent(*table, command.round)) return refused;
        if (table->current.resultIn)
            return refuse(RefusalCode::ResultAlreadyReported, rule("BJ 16.8", ""),
                          "a supervisor can correct the result until the jackpot is confirmed");
        Tiers tiers{};
        if (auto refused = evaluate(command, table->current, game(), tiers)) return refused;
        takeResult(*table, tiers);
        return kAccepted;
    }

    Refused operator()(const CorrectResult& command)
    {
        Table* table = findTable(command.result.table);
        if (!table) return unknownTable(command.result.table);
        if (auto refused = checkCurrent(*table, command.result.round)) return refused;
        if (!table->current.resultIn)
            return refuse(RefusalCode::NoResult, "BJ 16.8",
                          "there is no result to correct: report it");
        if (table->current.confirmed)
            return refuse(
                RefusalCode::AlreadyConfirmed, "BJ 16.8",
                "the jackpot is confirmed: void the wager or the round, or adjust the pool");
        if (command.by.empty())
            return refuse(RefusalCode::NeedsSupervisor, "BJ 16.8",
                          "a supervisor's name is missing");
        Tiers tiers{};
        if (auto refused = evaluate(command.result, table->current, game(), tiers)) return refused;

        for (int seat = 1; seat <= kMaxSeats; ++seat) {
            withdrawDue(*table, table->current, seat);
            dropClaim(*table, table->current, seat);
        }
        takeResult(*table, tiers);
        return kAccepted;
    }

    Refused operator()(const ConfirmJackpot& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        if (auto refused = checkCurrent(*table, command.round)) return refused;
        Round& round = table->current;
        if (round.confirmed)
            return refuse(RefusalCode::AlreadyConfirmed, "",
                          "the button counts once for each round");
        if (!round.hasClaims())
            return refuse(RefusalCode::NothingToConfirm, rule("BJ 14.24", "UTH 15.2.9"),
                          "no seat of round " + std::to_string(round.number) + " has a jackpot");
        if (command.pressedAgoMs < 0)
            return refuse(RefusalCode::OutOfRange, "BJ 14.27.4",
                          "the button cannot be pressed in the future");

        round.confirmed = true;
        Pool& pool = poolOf(*table);
        pool.confirmations.push_back({
            .table = indexOf(*table),
            .round = round.number,
            .order = state_.confirmations++,
            .arrivedMs = now_,
            .pressedMs = now_ - command.pressedAgoMs,
            .meter = pool.meter,
            .since = Change::none(pool.config.minimum),
        });
        if (pool.config.windowMs() == 0)
            settleTogether(state_, *out_.pool, {pool.confirmations.size() - 1}, out_);
        else
            simultaneity().waitOrHold();
        return kAccepted;
    }

    Refused operator()(const RuleOnClaims& command)
    {
        Pool* pool = findPool(command.pool);
        if (!pool) return unknownPool(command.pool);
        if (auto refused = simultaneity().checkRuling(command.order)) return refused;
        simultaneity().settleAsRuled(command.order);
        return kAccepted;
    }

    Refused operator()(const VoidRound& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        if (auto refused = checkVoidable(*table, command.round)) return refused;
        Round& round = *table->findRound(command.round);
        const bool holdem = isHoldem(poolOf(*table));
        if (holdem && round.settled)
            return refuse(RefusalCode::RoundSettled, "UTH 15.3.1",
                          "a jackpot of the round is settled: what needs undoing is an adjustment "
                          "by two people");

        if (concernsMissingOrForeignCard(command.reason))
            notify(Notify::SurveillanceAndInspector, rule("BJ 16.16.4", "UTH 11.7.4"),
                   "table " + command.table + ", round " + std::to_string(round.number) +
                       " void: " + command.reason);
        returnWagers(*table, round);
        round.voided = true;
        stopWaitingIfDone(*table, round);
        return kAccepted;
    }

    Refused operator()(const VoidWager& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        if (auto refused = checkVoidable(*table, command.round)) return refused;
        Round& round = *table->findRound(command.round);
        if (!round.hasWager(command.seat))
            return refuse(RefusalCode::SeatHasNoWager, "",
                          seatText(command.seat) + " has no wager in this round");
        if (round.settled)
            return refuse(RefusalCode::RoundSettled, rule("BJ 16.22.3", "UTH 11.16.3"),
                          "a jackpot of the round is settled: what needs undoing is an adjustment "
                          "by two people");

        const int seat = static_cast<int>(command.seat);
        withdrawDue(*table, round, seat);
        returnSeats(*table, round, [seat](int each) { return each == seat; });
        stopWaitingIfDone(*table, round);
        return kAccepted;
    }

    Refused operator()(const SuspendTable& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        if (table->suspended)
            return refuse(RefusalCode::TableSuspended, "",
                          "table " + command.table + " is suspended already");

        table->suspended = true;
        Round& round = table->current;
        if (round.opened && !round.resultIn && !round.voided) {
            returnWagers(*table, round);
            round.voided = true;
        }
        notify(Notify::Inspector, rule("BJ 16.18", "UTH 11.11"),
               "table " + command.table + " suspended: " + command.reason);
        return kAccepted;
    }

    Refused operator()(const ResumeTable& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        return flip(table->suspended, false, RefusalCode::NotSuspended,
                    "table " + command.table + " is not suspended");
    }

    Refused operator()(const MarkTableOffline& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        return flip(table->offline, true, RefusalCode::TableOffline,
                    "table " + command.table + " is offline already");
    }

    Refused operator()(const MarkTableOnline& command)
    {
        Table* table = findTable(command.table);
        if (!table) return unknownTable(command.table);
        return flip(table->offline, false, RefusalCode::NotOffline,
                    "table " + command.table + " is not offline");
    }

    Refused operator()(const SuspendPool& command)
    {
        Pool* pool = findPool(command.pool);
        if (!pool) return unknownPool(command.pool);
        return flip(pool->suspended, true, RefusalCode::PoolSuspended,
                    "pool " + command.pool + " is suspended already");
    }

    Refused operator()(const ResumePool& command)
    {
        Pool* pool = findPool(command.pool);
        if (!pool) return unknownPool(command.pool);
        return flip(pool->suspended, false, RefusalCode::NotSuspended,
                    "pool " + command.pool + " is not suspended");
    }

    Refused operator()(const AdjustPool& command)
    {
        Pool* pool = findPool(command.pool);
        if (!pool) return unknownPool(command.pool);
        if (auto refused = checkTwoPeople(command.by, command.reason)) return refused;
        if (command.amount > kMaxAmount || command.amount < -kMaxAmount)
            return refuse(RefusalCode::OutOfRange, "",
                          "an adjustment is at most " + toRead(kMaxAmount));
        if (auto refused = checkRoom(*pool, std::max(command.amount, -command.amount)))
            return refused;
        PoolLedger{*pool, *out_.pool, out_}.adjust(command.amount);
        return kAccepted;
    }

    Refused operator()(const ChangePool& command)
    {
        Pool* pool = findPool(command.pool);
        if (!pool) return unknownPool(command.pool);
        if (auto refused = checkTwoPeople(command.by, command.reason)) return refused;
        const PoolConfig changed = withParameters(pool->config, command.to);
        if (auto refused = checkValid({{changed}, {}})) return refused;

        const PoolParameters present = parametersOf(pool->config);
        const PoolParameters next = parametersOf(changed);
        if (next != present) {
            if (auto refused = checkRoom(*pool, next.minimum)) return refused;
            out_.parameters = {ParametersState::Agreed, present, next};
            pool->next = next;
        } else if (pool->next) {
            out_.parameters = {ParametersState::TakenBack, present, *pool->next};
            pool->next.reset();
        }
        pool->nextIsDue = false;
        return kAccepted;
    }

    Refused operator()(const SettleDue& command)
    {
        Pool* pool = findPool(command.pool);
        if (!pool) return unknownPool(command.pool);
        simultaneity().settleDue();
        return kAccepted;
    }

    Refused operator()(const WithholdAward& command)
    {
        DueAward* award = nullptr;
        if (auto refused = findDue(command.award, award)) return refused;
        if (auto refused = checkTwoPeople(command.by, command.reason)) return refused;
        award->status = DueAward::Status::Withheld;
        return kAccepted;
    }

    Refused operator()(const RecordPayment& command)
    {
        DueAward* award = nullptr;
        if (auto refused = findDue(command.award, award)) return refused;
        if (command.by.empty())
            return refuse(RefusalCode::NeedsSupervisor, rule("BJ 16.19", "UTH 11.12"),
                          "who paid or verified the payment is missing");
        if (command.paid.isNegative() || command.paid > kMaxAmount)
            return refuse(RefusalCode::OutOfRange, "",
                          "a payment is between $0.00 and " + toRead(kMaxAmount));

        out_.payment = Payment{award->amount, command.paid};
        award->status = DueAward::Status::Paid;
        std::erase_if(findTable(command.award.table)->jackpotsDue,
                      [](const DueAward& each) { return each.status == DueAward::Status::Paid; });
        return kAccepted;
    }

private:
    // --- finding
    // ---------------------------------------------------------------------------------------

    Table* findTable(std::string_view id)
    {
        const auto index = state_.findTable(id);
        if (!index) return nullptr;
        Table& table = state_.tables[*index];
        enter(table.pool);
        return &table;
    }

    Pool* findPool(std::string_view id)
    {
        const auto index = state_.findPool(id);
        if (!index) return nullptr;
        enter(*index);
        return &state_.pools[*index];
    }

    void enter(std::uint32_t pool) { out_.pool = pool; }

    static bool isHoldem(const Pool& pool) { return pool.config.game == Game::UltimateTexasHoldem; }
    [[nodiscard]] Game game() const { return state_.pools[*out_.pool].config.game; }
    [[nodiscard]] std::string_view rule(std::string_view blackjack, std::string_view holdem) const
    {
        return ruleOf(game(), blackjack, holdem);
    }
    Simultaneity simultaneity() { return {state_, *out_.pool, now_, out_}; }

    Pool& poolOf(const Table& table) { return state_.pools[table.pool]; }
    std::uint32_t indexOf(const Table& table) const
    {
        return static_cast<std::uint32_t>(&table - state_.tables.data());
    }

    static Refused unknownTable(const std::string& id)
    {
        return refuse(RefusalCode::UnknownTable, "UTH 15.1.2.2",
                      "table \"" + id + "\" is linked to no pool");
    }
    static Refused unknownPool(const std::string& id)
    {
        return refuse(RefusalCode::UnknownPool, "", "there is no pool \"" + id + "\"");
    }

    static Refused flip(bool& flag, bool to, RefusalCode otherwise, std::string detail)
    {
        if (flag == to) return refuse(otherwise, "", std::move(detail));
        flag = to;
        return kAccepted;
    }

    // --- checking
    // --------------------------------------------------------------------------------------

    Refused checkWagers(const OpenRound& command, const Table& table) const
    {
        std::bitset<kMaxSeats + 1> seen;
        for (std::size_t i = 0; i < command.wagers.size(); ++i) {
            const Wager& wager = command.wagers[i];
            if (wager.seat < 1 || wager.seat > table.config.seats)
                return refuse(RefusalCode::SeatOutOfRange, rule("BJ 2.2.1", "UTH 2.2.1"),
                              seatText(wager.seat) + ": the table has seats 1 to " +
                                  std::to_string(table.config.seats));
            const auto seat = static_cast<std::size_t>(wager.seat);
            if (seen.test(seat))
                return refuse(RefusalCode::DuplicateSeat, rule("BJ 5.6", "UTH 5.7"),
                              seatText(wager.seat) + " has more than one jackpot wager");
            seen.set(seat);
            if (!wager.baseWager)
                return refuse(RefusalCode::NoBaseWager, rule("BJ 14.7", "UTH 15.2.1"),
                              seatText(wager.seat) + " has a jackpot wager without a base wager");
            if (table.config.requirePlayerCard && wager.playerCard.empty())
                return refuse(RefusalCode::NoPlayerCard, rule("BJ 5.1", "UTH 5.1"),
                              seatText(wager.seat) + " has no player card");
            if (game() == Game::UltimateTexasHoldem && !wager.playerCard.empty() &&
                std::any_of(
                    command.wagers.begin(), command.wagers.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Wager& other) { return other.playerCard == wager.playerCard; }))
                return refuse(
                    RefusalCode::PlayerWagersTwice, "UTH 5.6",
                    seatText(wager.seat) + " has a player card that wagers on another seat too");
        }
        return kAccepted;
    }

    static Refused checkValid(const Site& site)
    {
        const auto errors = validate(site);
        if (errors.empty()) return kAccepted;
        return refuse(RefusalCode::BadConfiguration, errors[0].rule, errors[0].message);
    }

    // Keeps every total where no movement still under way can leave 64 bits.
    static Refused checkRoom(const Pool& pool, Money moved)
    {
        const Totals& t = pool.totals;
        for (const Money total :
             {pool.meter, pool.reserve, t.seeded, t.contributed, t.returned, t.fromReserve,
              t.paidFromPool, t.paidByHouse, t.adjusted, -t.adjusted})
            if (total > kMaxTotal - moved)
                return refuse(RefusalCode::OutOfRange, "",
                              "pool " + pool.config.id + " has reached the limit of " +
                                  toRead(kMaxTotal) + " in its books: close it and open another");
        return kAccepted;
    }

    Refused checkCurrent(Table& table, std::int64_t number) const
    {
        const Round& round = table.current;
        if (!round.opened)
            return refuse(RefusalCode::NoOpenRound, "",
                          "table " + table.config.id + " has opened no round yet");
        if (round.number != number) return wrongRound(table, number);
        return checkNotVoid(round);
    }

    Refused checkVoidable(Table& table, std::int64_t number) const
    {
        if (!table.current.opened) return checkCurrent(table, number);
        const Round* round = table.findRound(number);
        return round ? checkNotVoid(*round) : wrongRound(table, number);
    }

    static Refused wrongRound(const Table& table, std::int64_t number)
    {
        return refuse(RefusalCode::WrongRound, "",
                      "round " + std::to_string(number) + " of table " + table.config.id +
                          ": the current round is " + std::to_string(table.current.number));
    }

    Refused checkNotVoid(const Round& round) const
    {
        if (!round.voided) return kAccepted;
        return refuse(
            RefusalCode::RoundVoided, rule("BJ 16.8", "UTH 15.3.1"),
            "round " + std::to_string(round.number) + " is void: its wagers were returned");
    }

    static Refused checkTwoPeople(const std::vector<std::string>& by, const std::string& reason)
    {
        if (differentPeople(by) < 2)
            return refuse(RefusalCode::NeedsTwoPeople, "", "this needs two different people");
        if (reason.empty()) return refuse(RefusalCode::NeedsReason, "", "this needs a reason");
        return kAccepted;
    }

    Refused findDue(const AwardRef& ref, DueAward*& award)
    {
        Table* table = findTable(ref.table);
        if (!table) return unknownTable(ref.table);
        const auto search = [&](std::vector<DueAward>& awards) {
            for (DueAward& each : awards)
                if (each.round == ref.round && each.seat == ref.seat && each.tier == ref.tier)
                    award = &each;
        };
        search(table->jackpotsDue);
        if (Round* round = table->findRound(ref.round)) search(round->due);
        if (!award)
            return refuse(RefusalCode::NoSuchAward, "",
                          "no award " + std::string{idOf(ref.tier)} + " is due to " +
                              seatText(ref.seat) + " in round " + std::to_string(ref.round) +
                              " of table " + ref.table);
        if (award->status == DueAward::Status::Withheld)
            return refuse(RefusalCode::AwardWithheld, rule("BJ 18.1", "UTH 13.19"),
                          "the award is withheld");
        if (award->status == DueAward::Status::Paid)
            return refuse(RefusalCode::AwardPaid, "", "the award was paid");
        return kAccepted;
    }

    // --- carrying out
    // ----------------------------------------------------------------------------------

    void notify(Notify whom, std::string_view rule, std::string text)
    {
        out_.notices.push_back({whom, rule, std::move(text)});
    }

    // Seat by seat from 1 up; what would take the meter past the cap goes to the reserve.
    void contribute(Pool& pool, Round& round)
    {
        const Money full = pool.config.increment.of(pool.config.wager);
        const Money reserved = pool.config.reserveIncrement.of(pool.config.wager);
        Money stakes;
        Money toMeter;
        Money toReserve;
        for (Seat& seat : round.seats) {
            if (!seat.wagered) continue;
            seat.toMeter = full;
            if (pool.config.cap)
                seat.toMeter = std::clamp(*pool.config.cap - (pool.meter + toMeter), Money{}, full);
            seat.toReserve = reserved + (full - seat.toMeter);
            stakes += pool.config.wager;
            toMeter += seat.toMeter;
            toReserve += seat.toReserve;
        }
        PoolLedger{pool, *out_.pool, out_}.takeWagers(stakes, toMeter, toReserve);
    }

    // Fixed awards are due at once (BJ 14.27.3), from the highest seat down; jackpots are claimed.
    void takeResult(Table& table, const Tiers& tiers)
    {
        Pool& pool = poolOf(table);
        Round& round = table.current;
        PoolLedger ledger{pool, *out_.pool, out_};
        round.resultIn = true;
        for (int number = kMaxSeats; number >= 1; --number) {
            Seat& seat = round.seat(number);
            seat.tier = tiers.at(static_cast<std::size_t>(number - 1));
            const PayTableRow* row = findRow(pool.payTable, seat.tier);
            if (!row) continue;
            if (row->pays == Pays::Fixed) {
                ledger.payByHouse(row->amount);
                round.due.push_back(
                    {round.number, number, row->tier, row->amount, DueAward::Status::Due});
                out_.awards.push_back({indexOf(table), round.number, number, row->tier, row->amount,
                                       row->rule,
                                       Arithmetic::plain(Arithmetic::Kind::Fixed, row->amount)});
            } else {
                seat.claims = true;
                out_.claims.push_back(
                    {indexOf(table), round.number, number, row->tier, ClaimState::Claimed});
            }
        }
    }

    void withdrawDue(Table& table, Round& round, int seat)
    {
        const auto due = std::ranges::find(round.due, seat, &DueAward::seat);
        if (due == round.due.end()) return;
        Pool& pool = poolOf(table);
        PoolLedger{pool, *out_.pool, out_}.withdraw(due->amount);
        const PayTableRow& row = *findRow(pool.payTable, due->tier);
        out_.withdrawn.push_back({indexOf(table), round.number, seat, due->tier, due->amount,
                                  row.rule,
                                  Arithmetic::plain(Arithmetic::Kind::Fixed, due->amount)});
        round.due.erase(due);
    }

    void dropClaim(Table& table, Round& round, int number)
    {
        Seat& seat = round.seat(number);
        if (!seat.claims) return;
        seat.claims = false;
        out_.claims.push_back(
            {indexOf(table), round.number, number, seat.tier, ClaimState::Dropped});
    }

    // Blackjack's interim settlement stands: a seat whose award is due keeps it, and its wager is
    // settled (BJ 16.8, 16.16.2). UTH has none: fixed awards of the round are withdrawn.
    void returnWagers(Table& table, Round& round)
    {
        const Pool& pool = poolOf(table);
        const bool interimStands = !isHoldem(pool);
        const auto isSettled = [&](int number) {
            const PayTableRow* row = findRow(pool.payTable, round.seat(number).tier);
            return interimStands && row && (row->pays == Pays::Fixed || round.settled);
        };
        if (!interimStands)
            for (int seat = 1; seat <= kMaxSeats; ++seat) withdrawDue(table, round, seat);
        returnSeats(table, round, [&](int seat) { return !isSettled(seat); });
    }

    template <class WhichSeats>
    void returnSeats(Table& table, Round& round, WhichSeats&& isReturned)
    {
        Pool& pool = poolOf(table);
        Money stakes;
        Money fromMeter;
        Money fromReserve;
        for (int number = 1; number <= kMaxSeats; ++number) {
            Seat& seat = round.seat(number);
            if (!seat.wagered || !isReturned(number)) continue;
            dropClaim(table, round, number);
            stakes += pool.config.wager;
            fromMeter += seat.toMeter;
            fromReserve += seat.toReserve;
            seat.wagered = false;
            seat.tier = Tier::None;
            out_.refunds.push_back({indexOf(table), round.number, number, pool.config.wager});
        }
        PoolLedger{pool, *out_.pool, out_}.returnWagers(stakes, fromMeter, fromReserve);
    }

    // A confirmed round whose last claim was dropped waits for nothing any more; if that leaves
    // only one table in a tie, there is nothing left to rule on.
    void stopWaitingIfDone(Table& table, Round& round)
    {
        if (!round.confirmed || round.settled || round.hasClaims()) return;
        Pool& pool = poolOf(table);
        const auto found = std::ranges::find_if(pool.confirmations, [&](const Confirmation& each) {
            return each.table == indexOf(table) && each.round == round.number;
        });
        if (found == pool.confirmations.end()) return;
        forget(pool, static_cast<std::size_t>(found - pool.confirmations.begin()));
        table.dropIfDone(&round);
        simultaneity().releaseTie();
    }

    State& state_;
    TimeMs now_;
    Outcome& out_;
};

// The pool that a command is about, for what must be known before it is carried out.
std::optional<std::uint32_t> poolOf(const State& state, const Command& command)
{
    if (const std::string* const id = tableOf(command)) {
        const auto table = state.findTable(*id);
        return table ? std::optional{state.tables[*table].pool} : std::nullopt;
    }
    return std::visit(
        [&](const auto& each) -> std::optional<std::uint32_t> {
            if constexpr (requires { each.pool; })
                return state.findPool(each.pool);
            else
                return std::nullopt;
        },
        command);
}

// For displays and signs, which show it long after it was settled.
void rememberWin(State& state, const Outcome& outcome, TimeMs now)
{
    for (const Award& award : outcome.awards)
        if (award.arithmetic.kind == Arithmetic::Kind::Tenth ||
            award.arithmetic.kind == Arithmetic::Kind::All)
            state.pools[*outcome.pool].lastWin = {award.amount, now, award.tier, award.table};
}

void requireNothingDue(const Pool& pool, TimeMs now)
{
    for (const Confirmation& each : pool.confirmations)
        if (each.hold == Hold::None && each.arrivedMs + pool.config.windowMs() <= now)
            throw InvariantViolation{"a command was given to pool " + pool.config.id +
                                     " before what was due in it was settled"};
}

}  // namespace

Outcome apply(State& state, const Command& command, TimeMs now)
{
    const auto moneyOf = [](const Pool& pool) { return PoolBefore{pool.meter, pool.reserve}; };
    const auto pool = poolOf(state, command);
    PoolBefore before;
    std::vector<PoolBefore> allBefore;
    if (pool) {
        if (!std::holds_alternative<SettleDue>(command)) requireNothingDue(state.pools[*pool], now);
        before = moneyOf(state.pools[*pool]);
    } else if (std::holds_alternative<ConfigureSite>(command)) {
        for (const Pool& each : state.pools) allBefore.push_back(moneyOf(each));
    }

    Outcome outcome;
    outcome.refusal = std::visit(Engine{state, now, outcome}, command);
    if (outcome.pool && !outcome.refusal) takeAgreedParameters(state, *outcome.pool, outcome);
    rememberWin(state, outcome, now);
    checkTouched(state, outcome, outcome.pool ? std::span{&before, 1} : std::span{allBefore});
    return outcome;
}

}  // namespace jackpot::rules
