#include "rules/site.h"

#include <algorithm>
#include <array>
#include <map>

namespace jackpot::rules {
namespace {

constexpr std::size_t kMaxIdBytes = 64;
// Far above any chip, wager or bonus, far below what could crowd a pool's totals.
constexpr Money kMaxStake = Money::ofDollars(1'000'000);
constexpr std::int64_t kMaxWindowMs = 24LL * 60 * 60 * 1000;

// UTH 15.2.9: the least that a table's sign may promise.
constexpr Money kRoyalFlushGuarantee = Money::ofDollars(50'000);
constexpr Money kStraightFlushGuarantee = Money::ofDollars(5'000);
constexpr Money kMaxGuarantee = Money::ofDollars(100'000'000);

constexpr std::array kBlazingWagers{Money::ofCents(250), Money::ofCents(500)};
constexpr std::array kBlazingMinimums{Money::ofDollars(10'000), Money::ofDollars(25'000),
                                      Money::ofDollars(50'000)};

class Validation {
public:
    explicit Validation(const Site& site) : site_{site} {}

    std::vector<ConfigError> run()
    {
        for (at_ = 0; at_ < site_.pools.size(); ++at_) checkPool(site_.pools[at_]);
        of_ = ConfigError::Of::Table;
        for (at_ = 0; at_ < site_.tables.size(); ++at_) checkTable(site_.tables[at_]);
        return std::move(errors_);
    }

private:
    void error(std::string_view field, std::string_view rule, std::string message)
    {
        errors_.push_back({of_, at_, field, rule, std::move(message)});
    }

    void checkId(const std::string& id, std::map<std::string, std::size_t, std::less<>>& seen,
                 std::string_view rule)
    {
        if (id.empty() || id.size() > kMaxIdBytes)
            error("id", "", "an id has 1 to " + std::to_string(kMaxIdBytes) + " bytes");
        else if (!seen.emplace(id, at_).second)
            error("id", rule, "\"" + id + "\" is there twice");
    }

    void checkStake(std::string_view field, Money amount, std::string_view rule)
    {
        if (amount <= Money{} || !amount.isWholeCents() || amount > kMaxStake)
            error(field, rule,
                  toRead(amount) + " is not a positive number of whole cents up to " +
                      toRead(kMaxStake));
    }

    void checkPool(const PoolConfig& pool)
    {
        const bool blazing = pool.game == Game::BlazingSevens;
        checkId(pool.id, pools_, "");

        if (blazing && std::ranges::find(kBlazingWagers, pool.wager) == kBlazingWagers.end())
            error("wager", "BJ 14.24",
                  toRead(pool.wager) + " is not a Blazing 7's wager: it is $2.50 or $5.00");
        else
            checkStake("wager", pool.wager, blazing ? "BJ 14.24" : "UTH 15.2.3");

        if (pool.increment.partsPerMillion() < 0 || pool.increment.partsPerMillion() > Rate::kOne)
            error("increment", "", "a rate is between 0 and 1");
        if (pool.reserveIncrement.partsPerMillion() < 0 ||
            pool.reserveIncrement.partsPerMillion() > Rate::kOne)
            error("reserve_increment", "", "a rate is between 0 and 1");
        else if (pool.increment.partsPerMillion() + pool.reserveIncrement.partsPerMillion() >
                 Rate::kOne)
            error("reserve_increment", "",
                  "increment " + toText(pool.increment) + " and reserve_increment " +
                      toText(pool.reserveIncrement) + " are together more than 1");

        if (blazing && std::ranges::find(kBlazingMinimums, pool.minimum) == kBlazingMinimums.end())
            error("minimum", "BJ 14.28",
                  toRead(pool.minimum) +
                      " is not a minimum: it is $10,000.00, $25,000.00 or $50,000.00");
        if (pool.minimum <= Money{} || !pool.minimum.isWholeCents() || pool.minimum > kMaxAmount)
            error("minimum", "BJ 14.28",
                  toRead(pool.minimum) + " is not a positive number of whole cents up to " +
                      toRead(kMaxAmount));

        const Money opening = pool.openingAmount();
        if (opening < pool.minimum)
            error("opening", "BJ 14.28",
                  toRead(opening) + " is below the minimum of " + toRead(pool.minimum));
        if (opening > kMaxAmount) error("opening", "", "it is above " + toRead(kMaxAmount));
        if (pool.cap && *pool.cap < opening)
            error("cap", "",
                  toRead(*pool.cap) + " is below the opening amount of " + toRead(opening));
        if (pool.cap && *pool.cap > kMaxAmount)
            error("cap", "", "it is above " + toRead(kMaxAmount));

        checkStake("payout_unit", pool.payoutUnit, "BJ 5.12");

        checkTimes(pool, blazing);
        if (pool.bonus) checkBonus(*pool.bonus, blazing);
        if (pool.guarantee) checkGuarantee(*pool.guarantee, blazing);
    }

    void checkTimes(const PoolConfig& pool, bool blazing)
    {
        const auto check = [&](std::string_view field, const std::optional<std::int64_t>& ms) {
            if (!ms) return;
            if (!blazing)
                error(field, "UTH 15.2.13",
                      "only Blazing 7's has wins at the same time on different tables");
            else if (*ms < 0 || *ms > kMaxWindowMs)
                error(field, "BJ 14.27.4",
                      "it is between 0 and " + std::to_string(kMaxWindowMs) + " ms");
        };
        check("simultaneity_window_ms", pool.simultaneityWindowMs);
        check("settle_after_ms", pool.settleAfterMs);
        if (pool.waitMs() < pool.windowMs())
            error("settle_after_ms", "BJ 14.27.4",
                  std::to_string(pool.waitMs()) + " ms is less than simultaneity_window_ms (" +
                      std::to_string(pool.windowMs()) + ")");
        const auto tables = std::ranges::count(site_.tables, pool.id, &TableConfig::pool);
        if (blazing && pool.windowMs() == 0 && tables > 1)
            error("simultaneity_window_ms", "BJ 14.27.4",
                  "0 is only for a pool with one table; it has " + std::to_string(tables));
    }

    void checkBonus(const TierAmounts& bonus, bool blazing)
    {
        if (blazing)
            error("bonus", "BJ 14.24", "Blazing 7's has no bonus jackpot (UTH 15.2.10 has)");
        if (!bonus.royalFlush && !bonus.straightFlush)
            error("bonus", "UTH 15.2.10", "it names neither royal_flush nor straight_flush");
        if (bonus.royalFlush) checkStake("bonus.royal_flush", *bonus.royalFlush, "UTH 15.2.11");
        if (bonus.straightFlush)
            checkStake("bonus.straight_flush", *bonus.straightFlush, "UTH 15.2.11");
    }

    void checkGuarantee(const TierAmounts& guarantee, bool blazing)
    {
        if (blazing) {
            error("guarantee", "BJ 14.28", "the guarantee of Blazing 7's is its minimum");
            return;
        }
        if (!guarantee.royalFlush && !guarantee.straightFlush)
            error("guarantee", "UTH 15.2.13", "it names neither royal_flush nor straight_flush");
        const auto check = [this](std::string_view field, const std::optional<Money>& amount,
                                  Money least) {
            if (amount && (*amount < least || !amount->isWholeCents() || *amount > kMaxGuarantee))
                error(field, "UTH 15.2.9",
                      toRead(*amount) + " is not a number of whole cents from " + toRead(least) +
                          " to " + toRead(kMaxGuarantee));
        };
        check("guarantee.royal_flush", guarantee.royalFlush, kRoyalFlushGuarantee);
        check("guarantee.straight_flush", guarantee.straightFlush, kStraightFlushGuarantee);
    }

    void checkTable(const TableConfig& table)
    {
        checkId(table.id, tables_, "UTH 15.1.2.2");

        const auto linked = pools_.find(table.pool);
        if (linked == pools_.end()) {
            error("pool", "UTH 15.1.2.2", "there is no pool \"" + table.pool + "\"");
            return;
        }
        const PoolConfig& pool = site_.pools[linked->second];
        const bool blazing = pool.game == Game::BlazingSevens;

        const std::int64_t fewest = blazing ? 5 : 1;
        if (table.seats < fewest || table.seats > kMaxSeats)
            error("seats", blazing ? "BJ 2.2.1" : "UTH 2.2.1",
                  std::to_string(table.seats) + " seats: a table of this game has " +
                      std::to_string(fewest) + " to " + std::to_string(kMaxSeats));
        if (table.wager && *table.wager != pool.wager)
            error("wager", blazing ? "BJ 14.26.3" : "UTH 15.2.5",
                  toRead(*table.wager) + " is not the pool's wager of " + toRead(pool.wager));
        if (table.decks && *table.decks != decksOf(pool.game))
            error("decks", blazing ? "BJ 3.1.1" : "UTH 3.1",
                  std::to_string(*table.decks) + " decks: the game is played with " +
                      std::to_string(decksOf(pool.game)));
        if (blazing && !table.shufflingDevice)
            error("shuffling_device", "BJ 2.3.4.3",
                  "a progressive jackpot needs a shuffling device");
    }

    const Site& site_;
    ConfigError::Of of_ = ConfigError::Of::Pool;
    std::size_t at_ = 0;
    std::map<std::string, std::size_t, std::less<>> pools_;
    std::map<std::string, std::size_t, std::less<>> tables_;
    std::vector<ConfigError> errors_;
};

}  // namespace

int decksOf(Game game) { return game == Game::BlazingSevens ? 6 : 1; }

PayTable payTableOf(const PoolConfig& config)
{
    const TierAmounts sign = config.guarantee.value_or(TierAmounts{});
    return payTableOf(config.game, config.wager,
                      config.game == Game::BlazingSevens
                          ? Guarantees{config.minimum, config.minimum.dividedDown(10)}
                          : Guarantees{sign.royalFlush.value_or(kRoyalFlushGuarantee),
                                       sign.straightFlush.value_or(kStraightFlushGuarantee)});
}

PoolParameters parametersOf(const PoolConfig& config)
{
    PoolParameters parameters = config;
    if (config.game == Game::BlazingSevens) {
        parameters.simultaneityWindowMs = config.windowMs();
        parameters.settleAfterMs = config.waitMs();
    } else {
        const TierAmounts named = config.guarantee.value_or(TierAmounts{});
        parameters.guarantee = {named.royalFlush.value_or(kRoyalFlushGuarantee),
                                named.straightFlush.value_or(kStraightFlushGuarantee)};
    }
    return parameters;
}

PoolConfig withParameters(const PoolConfig& config, const PoolParameters& parameters)
{
    PoolConfig changed = config;
    static_cast<PoolParameters&>(changed) = parameters;
    changed.opening.reset();
    return changed;
}

std::vector<ConfigError> validate(const Site& site) { return Validation{site}.run(); }

}  // namespace jackpot::rules
