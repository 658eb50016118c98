#include "rules/paytable.h"

#include <algorithm>

namespace jackpot::rules {

std::string_view idOf(Game game) { return game == Game::BlazingSevens ? "blazing7s" : "uth"; }

std::optional<Game> gameOfId(std::string_view id)
{
    for (const Game game : {Game::BlazingSevens, Game::UltimateTexasHoldem})
        if (idOf(game) == id) return game;
    return std::nullopt;
}

PayTable payTableOf(Game game, Money wager, const Guarantees& guarantees)
{
    const auto fixed = [](Tier tier, Money amount, std::string_view rule) {
        return PayTableRow{tier, Pays::Fixed, amount, {}, rule, rule};
    };
    const auto share = [](Tier tier, Pays pays, Money guarantee, std::string_view rule,
                          std::string_view sharedRule) {
        return PayTableRow{tier, pays, {}, guarantee, rule, sharedRule};
    };

    if (game == Game::UltimateTexasHoldem)
        return {
            share(Tier::RoyalFlush, Pays::All, guarantees.all, "UTH 15.2.9.1", "UTH 15.2.13.1"),
            share(Tier::StraightFlush, Pays::Tenth, guarantees.tenth, "UTH 15.2.9.2",
                  "UTH 15.2.13.2"),
            fixed(Tier::FourOfAKind, Money::ofDollars(500), "UTH 15.2.9.3"),
            fixed(Tier::FullHouse, Money::ofDollars(150), "UTH 15.2.9.4"),
            fixed(Tier::Flush, Money::ofDollars(100), "UTH 15.2.9.5"),
        };

    // BJ 14.24 has a column for the $2.50 wager and one, twice as high, for the $5 wager.
    const std::int64_t column = wager == Money::ofCents(250) ? 1 : 2;
    const auto row = [&](Tier tier, std::int64_t dollars) {
        return fixed(tier, Money::ofDollars(dollars) * column, "BJ 14.24");
    };
    return {
        share(Tier::ThreeSevensDiamonds, Pays::All, guarantees.all, "BJ 14.24", "BJ 14.27.1"),
        share(Tier::ThreeSuitedSevens, Pays::Tenth, guarantees.tenth, "BJ 14.24", "BJ 14.27.2"),
        row(Tier::ThreeSameColourSevens, 1'250),
        row(Tier::ThreeSevens, 500),
        row(Tier::TwoPlayerSevens, 50),
        row(Tier::OneEachSevens, 25),
    };
}

bool isJackpot(Tier tier)
{
    return tier == Tier::ThreeSevensDiamonds || tier == Tier::ThreeSuitedSevens ||
           tier == Tier::RoyalFlush || tier == Tier::StraightFlush;
}

const PayTableRow* findRow(const PayTable& table, Tier tier)
{
    const auto row = std::ranges::find(table, tier, &PayTableRow::tier);
    return row == table.end() ? nullptr : &*row;
}

}  // namespace jackpot::rules
