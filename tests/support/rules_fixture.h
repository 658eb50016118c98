// State, a clock that tests set, and short forms of the commands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rules/apply.h"

namespace jackpot::rules {

PoolConfig blazingPool(std::string id = "B7");
PoolConfig holdemPool(std::string id = "UTH");
// Blazing 7's without contributions.
PoolConfig flatPool(std::string_view opening);

class RulesFixture {
public:
    // One pool with tables T1, T2, ... of seven seats.
    RulesFixture(PoolConfig pool, int tables);
    explicit RulesFixture(Site site);

    State state;
    TimeMs now = 0;

    // Settles what has become due by now, then gives the command.
    Outcome give(const Command& command);
    // Advances the clock; settles each due jackpot at its own time.
    std::vector<Outcome> wait(TimeMs ms);

    Outcome open(const std::string& table, std::int64_t round, const std::vector<int>& seats);
    Outcome result(const std::string& table, std::int64_t round, std::vector<std::string> board,
                   std::vector<Hand> hands);
    Outcome correct(const std::string& table, std::int64_t round, std::vector<std::string> board,
                    std::vector<Hand> hands, People by = {"s1", "s2"});
    Outcome confirm(const std::string& table, std::int64_t round, std::int64_t pressedAgoMs = 0);
    // A round with wagers in which nobody qualifies.
    void play(const std::string& table, std::int64_t round, const std::vector<int>& seats);
    // A round with a jackpot on each of the seats, up to the button: "7S" is a tenth, "7D" all.
    void claim(const std::string& table, std::int64_t round, const std::string& card = "7S",
               const std::vector<int>& seats = {1});
    Outcome pay(const std::string& table, std::int64_t round, int seat, Tier tier,
                std::string_view amount);

    [[nodiscard]] const Pool& pool() const { return state.pools.at(0); }
};

Site siteOf(PoolConfig pool, int tables);
// As it is in play.
// Of seven seats.
TableConfig linkedTable(std::string id, std::string pool);

// The code of a refusal, or "" if there was none.
std::string codeOf(const Outcome& outcome);

Money dollars(std::string_view text);

}  // namespace jackpot::rules
