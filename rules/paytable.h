// Pay tables as data: what each tier pays, and the rule for it.
#pragma once

#include <string_view>
#include <vector>

#include "rules/cards.h"
#include "rules/money.h"

namespace jackpot::rules {

enum class Game : std::uint8_t { BlazingSevens, UltimateTexasHoldem };

std::string_view idOf(Game game);  // "blazing7s", "uth"
std::optional<Game> gameOfId(std::string_view id);

enum class Pays : std::uint8_t {
    Fixed,  // the house's money, due at once
    Tenth,  // 10 % of the pool, claimed and confirmed
    All,    // 100 % of the pool, claimed and confirmed
};

struct PayTableRow {
    Tier tier = Tier::None;
    Pays pays = Pays::Fixed;
    Money amount;                 // of a fixed award
    Money guarantee;              // the least that a winner of a share receives
    std::string_view rule;        // for a lone winner
    std::string_view sharedRule;  // for several at the same time

    bool operator==(const PayTableRow&) const = default;
};

using PayTable = std::vector<PayTableRow>;

// The least that a winner of a share receives.
struct Guarantees {
    Money all;
    Money tenth;
};

// What each card evaluation pays in a pool of this game and wager. The wager is one that BJ 14.24
// names ($2.50 or $5) for Blazing 7's; any for UTH.
PayTable payTableOf(Game game, Money wager, const Guarantees& guarantees);

// A tier of 10 % or 100 % of the pool.
bool isJackpot(Tier tier);

// nullptr where the tier pays nothing.
const PayTableRow* findRow(const PayTable& table, Tier tier);

}  // namespace jackpot::rules
