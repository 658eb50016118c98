#include "tests/rules/history.h"

#include <algorithm>
#include <array>
#include <string>

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

std::vector<std::vector<RoundRef>> rulingFor(const State& state, const Pool& pool, std::uint8_t how)
{
    std::vector<std::vector<RoundRef>> order;
    for (const Confirmation& each : pool.confirmations) {
        if (each.hold == Hold::None) continue;
        const RoundRef ref{state.tables[each.table].config.id, each.round};
        const bool fits = !order.empty() && (how & 1) != 0 &&
                          std::ranges::none_of(order.back(), [&](const RoundRef& r) {
                              return r.table == ref.table;
                          });
        if (fits)
            order.back().push_back(ref);
        else
            order.push_back({ref});
    }
    if ((how & 2) != 0) std::ranges::reverse(order);
    return order;
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
    if (move.kind < 10 && table.suspended) return ResumeTable{id, "ok", {}};
    if (move.kind < 10 && pool.suspended) return ResumePool{pool.config.id, "ok", {}};
    if (move.kind < 6 && table.current.hasUnconfirmedClaims()) return ConfirmJackpot{id, round, 0};
    switch (move.kind) {
        default: {
            OpenRound open{id, round + 1, {}};
            for (int seat = 1; seat <= 7; ++seat)
                if (((move.a >> (seat % 8)) & 1) != 0) open.wagers.push_back({seat, true, {}, {}});
            return open;
        }
        case 6:
        case 7:
        case 8:
        case 9: {
            ReportResult result{id, round, {}, {}};
            result.hands = winningHands(
                table.current, pool.config.game == Game::UltimateTexasHoldem, move, result.board);
            return result;
        }
        case 10:
        case 11: return ConfirmJackpot{id, round, move.a % 4 == 0 ? move.b * 20 : 0};
        case 12: return RuleOnClaims{pool.config.id, rulingFor(state, pool, move.a), "eye"};
        case 13:
            return VoidRound{id, move.a % 3 == 0 && round > 1 ? round - 1 : round, "misdeal", {}};
        case 14: return VoidWager{id, round, move.a % 8, "invalid", {}};
        case 15:
            return AdjustPool{
                pool.config.id, Money::ofCents((move.a - 128) * 1'000), "count", {"a", "b"}};
        case 16:
            return table.offline ? Command{MarkTableOnline{id}} : Command{MarkTableOffline{id}};
        case 17:
            return table.suspended ? Command{ResumeTable{id, "ok", {}}}
                                   : Command{SuspendTable{id, "fault", {}}};
        case 18: {
            CorrectResult correct{{id, round, {}, {}}, "s1"};
            correct.result.hands =
                winningHands(table.current, pool.config.game == Game::UltimateTexasHoldem, move,
                             correct.result.board);
            return correct;
        }
        case 19:
            return pool.suspended ? Command{ResumePool{pool.config.id, "ok", {}}}
                                  : Command{SuspendPool{pool.config.id, "audit", {}}};
    }
}

}  // namespace jackpot::rules
