#include "jackpotd/self_check.h"

#include "rules/apply.h"
#include "rules/explain.h"

namespace jackpot {
namespace {

using namespace rules;

Site siteOf(Game game, Money wager, Money opening)
{
    Site site;
    PoolConfig& pool = site.pools.emplace_back();
    pool.id = "P";
    pool.game = game;
    pool.wager = wager;
    pool.increment = Rate::ofPartsPerMillion(0);
    pool.minimum = Money::ofDollars(50'000);
    pool.opening = opening;
    TableConfig& table = site.tables.emplace_back();
    table.id = "T";
    table.pool = pool.id;
    table.seats = 7;
    return site;
}

// What the winners of one round are paid, highest seat first.
std::string paidIn(const Site& site, const OpenRound& open, const ReportResult& result)
{
    State state;
    std::string paid;
    const auto give = [&](const Command& command, TimeMs now) {
        const Outcome outcome = apply(state, command, now);
        if (outcome.refusal) paid += "refused: " + outcome.refusal->detail + " ";
        for (const Award& award : outcome.awards)
            paid += std::to_string(award.seat) + " " + toExact(award.amount) + " " +
                    std::string{award.rule} + "; ";
    };
    give(ConfigureSite{site}, 0);
    give(open, 1);
    give(result, 2);
    give(ConfirmJackpot{"T", 1, 0}, 3);
    if (const auto due = state.nextDue()) give(SettleDue{"P"}, due->atMs);
    return paid + toExact(state.pools[0].meter);
}

struct Vector {
    const char* name;
    std::string given;
    const char* wanted;
};

}  // namespace

Result<void> checkRules()
{
    const OpenRound two{"T", 1, {{1, true, {}, {}}, {2, true, {}, {}}}};
    const Vector vectors[] = {
        // The worked example of BJ 14.27.2: two winners of 10 % of $500,000.
        {"BJ 14.27.2",
         paidIn(siteOf(Game::BlazingSevens, Money::ofDollars(5), Money::ofDollars(500'000)), two,
                {"T", 1, {"7H"}, {{1, {"7H", "7H"}}, {2, {"7H", "7H"}}}}),
         "2 47500.00000000 BJ 14.27.2; 1 47500.00000000 BJ 14.27.2; 405000.00000000"},
        {"BJ 14.27.1",
         paidIn(siteOf(Game::BlazingSevens, Money::ofDollars(5), Money::ofDollars(500'000)), two,
                {"T", 1, {"7D"}, {{1, {"7D", "7D"}}, {2, {"7D", "7D"}}}}),
         "2 250000.00000000 BJ 14.27.1; 1 250000.00000000 BJ 14.27.1; 50000.00000000"},
        {"UTH 15.2.9",
         paidIn(siteOf(Game::UltimateTexasHoldem, Money::ofCents(250), Money::ofDollars(80'000)),
                two, {"T", 1, {"TS", "JS", "QS"}, {{1, {"KS", "AS"}}, {2, {"2H", "3D"}}}}),
         "1 80000.00000000 UTH 15.2.9.1; 50000.00000000"},
    };
    for (const Vector& vector : vectors)
        if (vector.given != vector.wanted)
            return Error{std::string{vector.name} + " gives " + vector.given + " instead of " +
                         vector.wanted};
    return {};
}

}  // namespace jackpot
