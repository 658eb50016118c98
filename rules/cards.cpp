#include "rules/cards.h"

#include <algorithm>
#include <bit>

namespace jackpot::rules {
namespace {

constexpr std::string_view kRanks = "23456789TJQKA";
constexpr std::string_view kSuits = "CDHS";

struct TierName {
    std::string_view id;
    std::string_view title;
};

constexpr std::array<TierName, kTiers> kTierNames{{
    {"none", "no win"},
    {"three_sevens_diamonds", "Three Sevens of Diamonds"},
    {"three_suited_sevens", "Three Suited Sevens"},
    {"three_same_colour_sevens", "Three Same Colour Sevens"},
    {"three_sevens", "Three Sevens"},
    {"two_player_sevens", "Two Player Sevens"},
    {"one_each_sevens", "One Player Seven and One Dealer Seven"},
    {"royal_flush", "Royal Flush"},
    {"straight_flush", "Straight Flush"},
    {"four_of_a_kind", "Four of a Kind"},
    {"full_house", "Full House"},
    {"flush", "Flush"},
    {"bonus", "Bonus"},
}};

constexpr unsigned rankBit(unsigned rank) { return 1U << rank; }
constexpr unsigned kTenToAce = rankBit(10) | rankBit(11) | rankBit(12) | rankBit(13) | rankBit(14);
constexpr unsigned kAceToFive = rankBit(14) | rankBit(2) | rankBit(3) | rankBit(4) | rankBit(5);

bool isStraight(unsigned ranks)
{
    constexpr unsigned kFiveInARow = 0b11111;
    return ranks == kAceToFive ||
           ranks == (kFiveInARow << static_cast<unsigned>(std::countr_zero(ranks)));
}

}  // namespace

std::optional<Card> parseCard(std::string_view text)
{
    if (text.size() != 2) return std::nullopt;
    const auto rank = kRanks.find(text[0]);
    const auto suit = kSuits.find(text[1]);
    if (rank == std::string_view::npos || suit == std::string_view::npos) return std::nullopt;
    return Card{static_cast<std::uint8_t>(rank + 2), static_cast<Suit>(suit)};
}

std::string toText(Card card)
{
    return {kRanks[static_cast<std::size_t>(card.rank - 2)],
            kSuits[static_cast<std::size_t>(card.suit)]};
}

std::string_view idOf(Tier tier) { return kTierNames.at(static_cast<std::size_t>(tier)).id; }
std::string_view titleOf(Tier tier) { return kTierNames.at(static_cast<std::size_t>(tier)).title; }

std::optional<Tier> tierOfId(std::string_view id)
{
    for (std::size_t i = 1; i < kTiers; ++i)
        if (kTierNames[i].id == id) return static_cast<Tier>(i);
    return std::nullopt;
}

Tier blazingSevensTier(Card first, Card second, Card dealer)
{
    const int playerSevens = int{first.rank == 7} + int{second.rank == 7};
    const bool dealerSeven = dealer.rank == 7;

    if (playerSevens == 2 && dealerSeven) {
        if (first.suit == second.suit && second.suit == dealer.suit)
            return dealer.suit == Suit::Diamonds ? Tier::ThreeSevensDiamonds
                                                 : Tier::ThreeSuitedSevens;
        if (first.isRed() == second.isRed() && second.isRed() == dealer.isRed())
            return Tier::ThreeSameColourSevens;
        return Tier::ThreeSevens;
    }
    if (playerSevens == 2) return Tier::TwoPlayerSevens;
    if (playerSevens == 1 && dealerSeven) return Tier::OneEachSevens;
    return Tier::None;
}

Tier holdemTier(const std::array<Card, 5>& cards)
{
    unsigned ranks = 0;
    std::array<int, 15> count{};
    bool flush = true;
    for (const Card& card : cards) {
        ranks |= rankBit(card.rank);
        ++count.at(card.rank);
        flush = flush && card.suit == cards[0].suit;
    }
    const int distinct = std::popcount(ranks);
    const bool straight = distinct == 5 && isStraight(ranks);
    const int most = *std::max_element(count.begin(), count.end());

    if (flush && straight) return ranks == kTenToAce ? Tier::RoyalFlush : Tier::StraightFlush;
    if (most == 4) return Tier::FourOfAKind;
    if (most == 3 && distinct == 2) return Tier::FullHouse;
    if (flush) return Tier::Flush;
    return Tier::None;
}

}  // namespace jackpot::rules
