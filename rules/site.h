// The site: its pools and the tables linked to them, as configured, and the rules they must keep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/money.h"
#include "rules/paytable.h"

namespace jackpot::rules {

inline constexpr int kMaxSeats = 9;
inline constexpr std::int64_t kDefaultWindowMs = 2000;
inline constexpr std::int64_t kDefaultSettleAfterMs = 10'000;

// Of UTH, by tier.
struct TierAmounts {
    std::optional<Money> royalFlush;
    std::optional<Money> straightFlush;

    bool operator==(const TierAmounts&) const = default;
};

// What two people may change of a pool in play; its fixed awards follow from game, wager and
// minimum.
struct PoolParameters {
    Rate increment;
    Rate reserveIncrement;
    Money minimum;
    std::optional<Money> cap;
    Money payoutUnit = Money::ofCents(1);
    std::optional<std::int64_t> simultaneityWindowMs;  // Blazing 7's only
    std::optional<std::int64_t> settleAfterMs;         // Blazing 7's only
    std::optional<TierAmounts> bonus;                  // UTH only
    std::optional<TierAmounts> guarantee;              // UTH only: as on the table's sign

    bool operator==(const PoolParameters&) const = default;
};

struct PoolConfig : PoolParameters {
    std::string id;
    Game game = Game::BlazingSevens;
    Money wager;
    std::optional<Money> opening;  // the minimum, unless more is carried over from another system

    bool operator==(const PoolConfig&) const = default;
    [[nodiscard]] Money openingAmount() const { return opening.value_or(minimum); }
    // Presses on different tables that are less apart are shown to Surveillance; 0 for UTH.
    [[nodiscard]] std::int64_t windowMs() const
    {
        return game == Game::BlazingSevens ? simultaneityWindowMs.value_or(kDefaultWindowMs) : 0;
    }
    // How long a lone win waits after its arrival until it is due; 0 for UTH.
    [[nodiscard]] std::int64_t waitMs() const
    {
        return game == Game::BlazingSevens ? settleAfterMs.value_or(kDefaultSettleAfterMs) : 0;
    }
};

struct TableConfig {
    std::string id;
    std::string pool;
    std::int64_t seats = 7;
    bool requirePlayerCard = false;
    std::optional<Money> wager;         // stated again at the table; the pool's
    std::optional<std::int64_t> decks;  // stated at the table; the game's
    bool shufflingDevice = true;

    bool operator==(const TableConfig&) const = default;
};

struct Site {
    std::vector<PoolConfig> pools;
    std::vector<TableConfig> tables;

    bool operator==(const Site&) const = default;
};

// Where in the configuration, so that a reader of files can add its own place (a line, a pointer).
struct ConfigError {
    enum class Of : std::uint8_t { Pool, Table };
    Of of = Of::Pool;
    std::size_t index = 0;   // into Site::pools or Site::tables
    std::string_view field;  // as in the configuration: "minimum"
    std::string_view rule;   // "BJ 14.28"; empty where the limit is our own
    std::string message;

    bool operator==(const ConfigError&) const = default;
};

// All errors at once, in the order of the configuration; empty means that a State can be made of
// it.
std::vector<ConfigError> validate(const Site& site);

int decksOf(Game game);

// What each tier pays in this pool.
PayTable payTableOf(const PoolConfig& config);

// With the defaults filled in, so that equal parameters compare equal.
PoolParameters parametersOf(const PoolConfig& config);
// What the pool opened with is of the past, and left out.
PoolConfig withParameters(const PoolConfig& config, const PoolParameters& parameters);

}  // namespace jackpot::rules
