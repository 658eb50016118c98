// Cards, decks and what hands win, written from the pay tables (BJ 14.24, UTH 15.2.9) without the
// code of rules/: a fault there must show as a difference.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rules/paytable.h"

namespace jackpot::floorsim {

using rules::Game;

inline constexpr int kSeats = 9;
using SeatSet = std::uint16_t;  // bit n is seat n

constexpr SeatSet bitOf(int seat)
{
    return static_cast<SeatSet>(1U << static_cast<unsigned>(seat));
}
constexpr bool has(SeatSet seats, int seat) { return (seats & bitOf(seat)) != 0; }

enum class Tier : std::uint8_t {
    None,
    ThreeSevensDiamonds,
    ThreeSuitedSevens,
    ThreeSameColourSevens,
    ThreeSevens,
    TwoPlayerSevens,
    OneEachSevens,
    RoyalFlush,
    StraightFlush,
    FourOfAKind,
    FullHouse,
    Flush,
    Bonus,
};
inline constexpr std::size_t kTierCount = 13;
using Tiers = std::array<Tier, kSeats + 1>;  // by seat

std::string_view nameOf(Tier tier);  // as on the link: "three_suited_sevens"
std::optional<Tier> tierNamed(std::string_view name);

constexpr bool isAll(Tier tier)
{
    return tier == Tier::ThreeSevensDiamonds || tier == Tier::RoyalFlush;
}
constexpr bool isTenth(Tier tier)
{
    return tier == Tier::ThreeSuitedSevens || tier == Tier::StraightFlush;
}
constexpr bool isJackpot(Tier tier) { return isAll(tier) || isTenth(tier); }
// What a fixed tier pays; 0 for the others.
std::int64_t fixedCents(Tier tier, std::int64_t wagerCents);

// 0 to 51, sorted by rank from the two to the ace, then by suit C D H S.
using Card = std::uint8_t;
const std::string& textOf(Card card);  // "7D"
std::optional<Card> cardOf(std::string_view text);

// `board` is the dealer's first card, or the flop.
Tier blazingSevens(Card dealer, Card first, Card second);
Tier holdem(const std::array<Card, 3>& flop, Card first, Card second);

// splitmix64: small, fast, and with the same sequence on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_{seed} {}
    std::uint64_t next()
    {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // A number from 0 to `bound` - 1; `bound` is small.
    std::uint32_t below(std::uint32_t bound)
    {
        return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
    }
    bool happens(std::uint32_t perThousand) { return below(1000) < perThousand; }

private:
    std::uint64_t state_;
};

struct Deal {
    std::array<Card, 3> board{};  // Blazing 7's uses only the first
    std::array<std::array<Card, 2>, kSeats + 1> hands{};
    Tiers tiers{};

    [[nodiscard]] bool hasJackpot() const
    {
        for (const Tier tier : tiers)
            if (isJackpot(tier)) return true;
        return false;
    }
};

// Deals from freshly shuffled cards: six decks for Blazing 7's, one for Hold'em. With `stacked`,
// the seat `winner` gets that jackpot.
Deal deal(Game game, SeatSet seats, Random& random, Tier stacked = Tier::None, int winner = 0);

}  // namespace jackpot::floorsim
