#include "tests/support/rules_fixture.h"

#include "rules/settle_due.h"

namespace jackpot::rules {

PoolConfig blazingPool(std::string id)
{
    PoolConfig pool;
    pool.id = std::move(id);
    pool.game = Game::BlazingSevens;
    pool.wager = Money::ofDollars(5);
    pool.increment = Rate::ofPartsPerMillion(200'000);
    pool.minimum = Money::ofDollars(50'000);
    return pool;
}

PoolConfig holdemPool(std::string id)
{
    PoolConfig pool = blazingPool(std::move(id));
    pool.game = Game::UltimateTexasHoldem;
    pool.increment = Rate::ofPartsPerMillion(235'000);
    return pool;
}

PoolConfig flatPool(std::string_view opening)
{
    PoolConfig pool = blazingPool();
    pool.increment = Rate{};
    pool.opening = dollars(opening);
    return pool;
}

Site siteOf(PoolConfig pool, int tables)
{
    Site site;
    for (int i = 1; i <= tables; ++i) {
        TableConfig table;
        table.id = "T" + std::to_string(i);
        table.pool = pool.id;
        site.tables.push_back(std::move(table));
    }
    site.pools.push_back(std::move(pool));
    return site;
}

TableConfig linkedTable(std::string id, std::string pool)
{
    TableConfig table;
    table.id = std::move(id);
    table.pool = std::move(pool);
    return table;
}

RulesFixture::RulesFixture(PoolConfig pool, int tables)
    : RulesFixture{siteOf(std::move(pool), tables)}
{}

RulesFixture::RulesFixture(Site site) { (void)apply(state, ConfigureSite{std::move(site)}, 0); }

Outcome RulesFixture::give(const Command& command)
{
    (void)wait(0);
    return apply(state, command, now);
}

std::vector<Outcome> RulesFixture::wait(TimeMs ms)
{
    std::vector<Outcome> outcomes;
    now += ms;
    settleDue(state, now, [&](const SettleDue& due, TimeMs atMs) {
        outcomes.push_back(apply(state, due, atMs));
    });
    return outcomes;
}

Outcome RulesFixture::open(const std::string& table, std::int64_t round,
                           const std::vector<int>& seats)
{
    OpenRound command{table, round, {}};
    for (const int seat : seats) command.wagers.push_back({seat, true, {}, {}});
    return give(command);
}

Outcome RulesFixture::result(const std::string& table, std::int64_t round,
                             std::vector<std::string> board, std::vector<Hand> hands)
{
    return give(ReportResult{table, round, std::move(board), std::move(hands)});
}

Outcome RulesFixture::confirm(const std::string& table, std::int64_t round,
                              std::int64_t pressedAgoMs)
{
    return give(ConfirmJackpot{table, round, pressedAgoMs});
}

Outcome RulesFixture::correct(const std::string& table, std::int64_t round,
                              std::vector<std::string> board, std::vector<Hand> hands, People by)
{
    return give(CorrectResult{{table, round, std::move(board), std::move(hands)}, std::move(by)});
}

void RulesFixture::play(const std::string& table, std::int64_t round, const std::vector<int>& seats)
{
    (void)open(table, round, seats);
    const bool holdem = pool().config.game == Game::UltimateTexasHoldem;
    (void)result(
        table, round,
        holdem ? std::vector<std::string>{"2C", "7D", "JS"} : std::vector<std::string>{"2C"}, {});
}

void RulesFixture::claim(const std::string& table, std::int64_t round, const std::string& card,
                         const std::vector<int>& seats)
{
    (void)open(table, round, seats);
    std::vector<Hand> hands;
    for (const int seat : seats) hands.push_back({seat, {card, card}});
    (void)result(table, round, {card}, std::move(hands));
}

Outcome RulesFixture::pay(const std::string& table, std::int64_t round, int seat, Tier tier,
                          std::string_view amount)
{
    return give(
        RecordPayment{{table, round, seat, tier}, false, dollars(amount), "cheque", {"s1"}});
}

std::string codeOf(const Outcome& outcome)
{
    return outcome.refusal ? std::string{idOf(outcome.refusal->code)} : std::string{};
}

Money dollars(std::string_view text) { return parseMoney(text).value(); }

}  // namespace jackpot::rules
