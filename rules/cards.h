// Cards and the hands that win. Pure functions, no state.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jackpot::rules {

enum class Suit : std::uint8_t { Clubs, Diamonds, Hearts, Spades };

struct Card {
    std::uint8_t rank = 2;  // 2 to 14, the ace high
    Suit suit = Suit::Clubs;

    bool operator==(const Card&) const = default;
    [[nodiscard]] constexpr bool isRed() const
    {
        return suit == Suit::Diamonds || suit == Suit::Hearts;
    }
    // 0 to 51, one number for each card of a deck.
    [[nodiscard]] constexpr std::size_t index() const
    {
        return static_cast<std::size_t>(rank - 2) * 4 + static_cast<std::size_t>(suit);
    }
};

inline constexpr std::size_t kCardsInDeck = 52;

// "7D", "TH": rank 23456789TJQKA and suit CDHS; anything else is no card.
std::optional<Card> parseCard(std::string_view text);
std::string toText(Card card);
constexpr Card cardAt(std::size_t index)
{
    return {static_cast<std::uint8_t>(index / 4 + 2), static_cast<Suit>(index % 4)};
}

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
inline constexpr std::size_t kTiers = 13;

std::string_view idOf(Tier tier);     // "three_suited_sevens"
std::string_view titleOf(Tier tier);  // "Three Suited Sevens"
std::optional<Tier> tierOfId(std::string_view id);

// The highest tier of the player's first two cards with the dealer's first (BJ 14.21, 14.24).
Tier blazingSevensTier(Card first, Card second, Card dealer);

// The highest tier of the two hole cards with the flop (UTH 15.2.6, 15.2.8).
Tier holdemTier(const std::array<Card, 5>& cards);

}  // namespace jackpot::rules
