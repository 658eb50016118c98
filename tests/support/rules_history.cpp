#include "tests/support/rules_history.h"

#include <algorithm>
#include <array>
#include <string>

#include "rules/holds.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::rules {
namespace {

constexpr std::array<const char*, 4> kSuits{"S", "D", "H", "C"};

// Cards that hit often: sevens for Blazing 7's; suited runs for hold'em.
std::vector<Hand> winningHands(const Round& round, bool holdem, const Move& move,
                               std::vector<std::string>& board)
{
    std::vector<Hand> hands;
    const std::string suit = kSuits.at(move.a % 4);
    if (holdem)
        board = {"Q" + suit, "J" + suit, "T" + suit};
    else
        board = {"7" + suit};
    const std::array<std::array<std::string, 2>, 3> holdemHands{
        {{"A" + suit, "K" + suit}, {"9" + suit, "8" + suit}, {"2" + suit, "4" + suit}}};
    std::size_t used = 0;
    for (int seat = 1; seat <= kMaxSeats; ++seat) {
        if (!round.seat(seat).wagered || ((move.b >> (seat % 8)) & 1) == 0) continue;
        if (!holdem && used < 2)
            hands.push_back({seat, {"7" + suit, "7" + suit}});
        else if (!holdem)
            hands.push_back({seat, {"7" + std::string{kSuits.at((move.a + 1U) % 4)}, "KC"}});
        else if (used < 3)
            hands.push_back({seat, {holdemHands.at(used)[0], holdemHands.at(used)[1]}});
        ++used;
    }
    return hands;
}

// For one of the pool's holds; sometimes not a complete one.
std::vector<std::vector<RoundRef>> rulingFor(const State& state, const Pool& pool, std::uint8_t how)
{
    const auto holds = holdsOf(state, pool);
    if (holds.empty()) return {};
    std::vector<std::vector<RoundRef>> order;
    for (const RoundRef& ref : holds.at(how % holds.size())) {
        const bool fits =
            !order.empty() && (how & 64) != 0 && pool.config.game == Game::BlazingSevens &&
            std::ranges::none_of(order.back(),
                                 [&](const RoundRef& r) { return r.table == ref.table; });
        if (fits)
            order.back().push_back(ref);
        else
            order.push_back({ref});
    }
    if ((how & 32) != 0) std::ranges::reverse(order);
    if (how % 16 == 0) order.pop_back();
    return order;
}

// A payment or a withholding of an award that the table has or had.
Command paymentFor(const Table& table, const Move& move)
{
    AwardRef ref{table.config.id, table.current.number, move.b % 8, Tier::OneEachSevens};
    const auto& records = table.jackpots.empty() || move.a % 4 == 0 ? table.awards : table.jackpots;
    if (!records.empty()) {
        const AwardRecord& record = records[records.size() - 1 - move.b % records.size()];
        ref = {table.config.id, record.round, record.seat, record.tier};
    }
    if (move.a % 8 == 5) return WithholdAward{ref, "r", {"a", "b"}};
    if (move.a % 8 == 6) return ReleaseAward{ref, "r", {"a", "b"}};
    const bool withoutAward = move.a % 8 == 7;
    if (withoutAward) ref.tier = Tier::None;
    return RecordPayment{ref, withoutAward, Money::ofCents(move.b * 100 - 2'000), "", {"s1"}};
}

// Parameters in reach of what a history does: minimums that a reset passes, caps near the meter;
// some that break a rule, and now and then the present ones.
PoolParameters parametersFor(const Pool& pool, const Move& move)
{
    PoolParameters to = parametersOf(pool.config);
    if (move.a % 8 == 0) return to;
    const bool blazing = pool.config.game == Game::BlazingSevens;
    constexpr std::array<std::int64_t, 4> kMinimums{10'000, 25'000, 50'000, 60'000};
    to.minimum = Money::ofDollars(kMinimums.at(move.b % (blazing && move.a % 8 != 1 ? 3U : 4U)));
    to.increment = Rate::ofPartsPerMillion(move.b * 1'000);
    to.reserveIncrement = Rate::ofPartsPerMillion(move.a * 3'000);
    to.cap.reset();
    if ((move.a & 16) != 0) to.cap = std::max(pool.displayed(), to.minimum) + Money::ofDollars(2);
    to.payoutUnit = Money::ofCents((move.b & 1) != 0 ? 5 : 100);
    if (blazing) to.simultaneityWindowMs = (move.a & 32) != 0 ? 500 : 1000;
    if (blazing) to.settleAfterMs = (move.b & 4) != 0 ? 2000 : 1000;
    if (!blazing && (move.a & 64) != 0)
        to.bonus = TierAmounts{Money::ofDollars(move.b), {}};  // none is no bonus
    return to;
}

// The site as it is but for one thing; half of them are refused.
Site amendedSite(const State& state, const Table& at, const Move& move)
{
    Site site = siteOf(state);
    TableConfig& table = site.tables.at(static_cast<std::size_t>(&at - state.tables.data()));
    PoolConfig& pool = site.pools.at(at.pool);
    if ((move.b & 1) != 0) pool.opening = pool.minimum + Money::ofDollars(move.b);
    const auto addTable = [&](const std::string& to) {
        site.tables.insert(site.tables.begin(),
                           linkedTable("N" + std::to_string(site.tables.size()), to));
    };
    switch (move.a % 8) {
        case 0: std::ranges::reverse(site.tables); break;
        case 1: addTable(pool.id); break;
        case 2: table.seats = 5 + move.b % 5; break;
        case 3: table.requirePlayerCard = !table.requirePlayerCard && move.b % 8 == 0; break;
        case 4: {
            PoolConfig opened;
            opened.id = "P" + std::to_string(site.pools.size());
            opened.wager = Money::ofDollars(5);
            opened.minimum = Money::ofDollars(25'000);
            site.pools.insert(site.pools.begin(), opened);
            addTable(opened.id);
            break;
        }
        case 5: site.tables.erase(site.tables.begin() + move.b % 2); break;
        case 6: pool.increment = Rate::ofPartsPerMillion(123'456); break;
        default:
            if (const auto& next = state.pools[at.pool].next) {
                pool = withParameters(pool, *next);
                addTable(pool.id);
            } else {
                table.pool = site.pools.at(move.b % site.pools.size()).id;
            }
    }
    return site;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Move& move)
{
    return out << "{" << int{move.kind} << "," << int{move.table} << "," << int{move.a} << ","
               << int{move.b} << "," << move.ms << "}";
}

Command commandFor(const State& state, const Move& move)
{
    const Table& table = state.tables[move.table % state.tables.size()];
    const Pool& pool = state.pools[table.pool];
    const std::string& id = table.config.id;
    const std::int64_t round = table.current.number;
    // Most moves do what comes next at the table, so that histories get somewhere.
    const bool holdem = pool.config.game == Game::UltimateTexasHoldem;
    const ResumeTable resume{id, Origin::Desk, "ok", {"s1"}};
    if (move.kind < 10 && table.suspended) return resume;
    if (move.kind < 10 && pool.suspended) return ResumePool{pool.config.id, "ok", {}};
    if (move.kind < 6 && table.current.hasUnconfirmedClaims())
        return ConfirmJackpot{id, round, move.a % 4 == 0 ? move.b * 20 : 0};
    if (move.kind < 6 && table.current.lacksResult()) {
        ReportResult result{id, round, {}, {}};
        result.hands = winningHands(table.current, holdem, move, result.board);
        return result;
    }
    // Earlier rounds are reached now and then.
    const std::int64_t target = move.a % 3 == 0 && !table.earlier.empty()
                                    ? table.earlier[move.b % table.earlier.size()].number
                                    : round;
    switch (move.kind) {
        default: {
            OpenRound open{id, round + 1, {}};
            for (int seat = 1; seat <= std::min<std::int64_t>(7, table.config.seats); ++seat)
                if (((move.a >> (seat % 8)) & 1) != 0)
                    open.wagers.push_back(
                        {seat,
                         true,
                         table.config.requirePlayerCard ? std::to_string(seat) : "",
                         {}});
            return open;
        }
        case 6:
        case 7:
        case 8:
        case 9: {
            ReportResult result{id, round, {}, {}};
            result.hands = winningHands(table.current, holdem, move, result.board);
            return result;
        }
        case 10:
        case 11: return ConfirmJackpot{id, round, move.a % 4 == 0 ? move.b * 20 : 0};
        case 12: return RuleOnClaims{pool.config.id, rulingFor(state, pool, move.a), {"eye"}};
        case 13:
            return VoidRound{id,
                             target,
                             static_cast<VoidRoundGround>(move.b % 4),
                             {1, move.a % 9},
                             "",
                             move.a % 5 == 0 ? People{"s1"} : People{"s1", "s2"}};
        case 14:
            return VoidWager{id,         target,
                             move.a % 8, static_cast<VoidWagerGround>(move.b % 4),
                             "",         move.a % 5 == 0 ? People{"s1"} : People{"s1", "s2"}};
        case 15:
            return AdjustPool{
                pool.config.id, Money::ofCents((move.a - 64) * 1'000), "count", {"a", "b"}};
        case 16:
            return table.offline ? Command{MarkTableOnline{id}} : Command{MarkTableOffline{id}};
        case 17:
            if (table.suspended) return resume;
            return SuspendTable{id,
                                static_cast<SuspensionGround>(move.a % 3),
                                static_cast<Origin>(move.b % 2),
                                "fault",
                                {"s1"}};
        case 18: {
            CorrectResult correct{{id, round, {}, {}}, {"s1", "s2"}};
            correct.result.hands = winningHands(table.current, holdem, move, correct.result.board);
            return correct;
        }
        case 19:
            return pool.suspended ? Command{ResumePool{pool.config.id, "ok", {}}}
                                  : Command{SuspendPool{pool.config.id, "audit", {}}};
        case 20: return ChangePool{pool.config.id, parametersFor(pool, move), "board", {"a", "b"}};
        case 21: return ConfigureSite{amendedSite(state, table, move)};
        case 22:
        case 23: return paymentFor(table, move);
        case 24: return CloseRound{id, round};
    }
}

}  // namespace jackpot::rules
