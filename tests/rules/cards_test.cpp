#include "rules/cards.h"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <vector>

namespace jackpot::rules {
namespace {

Card card(std::string_view text) { return parseCard(text).value(); }

Tier blazing(std::string_view first, std::string_view second, std::string_view dealer)
{
    return blazingSevensTier(card(first), card(second), card(dealer));
}

Tier holdem(const std::array<std::string_view, 5>& cards)
{
    return holdemTier(
        {card(cards[0]), card(cards[1]), card(cards[2]), card(cards[3]), card(cards[4])});
}

}  // namespace

TEST_CASE("a card is a rank and a suit, and nothing else is a card")
{
    for (std::size_t i = 0; i < kCardsInDeck; ++i) {
        CHECK(cardAt(i).index() == i);
        CHECK(parseCard(toText(cardAt(i))) == cardAt(i));
    }
    for (const char* text : {"", "7", "D7", "7d", "7X", "1D", "10D", "7DD", "XX", "7 "})
        CHECK_FALSE(parseCard(text));
}

TEST_CASE("a Blazing 7's hand wins its highest tier only (BJ 14.24)")
{
    CHECK(blazing("7D", "7D", "7D") == Tier::ThreeSevensDiamonds);
    CHECK(blazing("7S", "7S", "7S") == Tier::ThreeSuitedSevens);
    CHECK(blazing("7H", "7H", "7H") == Tier::ThreeSuitedSevens);
    CHECK(blazing("7H", "7D", "7H") == Tier::ThreeSameColourSevens);
    CHECK(blazing("7C", "7S", "7S") == Tier::ThreeSameColourSevens);
    CHECK(blazing("7C", "7S", "7D") == Tier::ThreeSevens);
    CHECK(blazing("7D", "7D", "7C") == Tier::ThreeSevens);
    CHECK(blazing("7D", "7D", "KD") == Tier::TwoPlayerSevens);
    CHECK(blazing("7D", "KD", "7C") == Tier::OneEachSevens);
    CHECK(blazing("KD", "7D", "7C") == Tier::OneEachSevens);
    CHECK(blazing("KD", "QD", "7D") == Tier::None);
    CHECK(blazing("7D", "QD", "8D") == Tier::None);
}

TEST_CASE("all Blazing 7's card triples of six decks agree with counts computed another way")
{
    // Every physical triple: player's two cards in order, then the dealer's, from 312 cards, as
    // weights of card kinds.
    std::map<Tier, long long> counted;
    for (std::size_t a = 0; a < kCardsInDeck; ++a)
        for (std::size_t b = 0; b < kCardsInDeck; ++b)
            for (std::size_t c = 0; c < kCardsInDeck; ++c) {
                const long long ways = 6LL * (6 - (b == a)) * (6 - (c == a) - (c == b));
                counted[blazingSevensTier(cardAt(a), cardAt(b), cardAt(c))] += ways;
            }

    // The same from the rule's words: 24 sevens, 6 of each suit, 12 of each colour, 288 other
    // cards.
    const long long threeSevens = 24LL * 23 * 22;
    const long long oneSuit = 6LL * 5 * 4;
    const long long sameColour = 2 * 12LL * 11 * 10 - 4 * oneSuit;
    CHECK(counted[Tier::ThreeSevensDiamonds] == oneSuit);
    CHECK(counted[Tier::ThreeSuitedSevens] == 3 * oneSuit);
    CHECK(counted[Tier::ThreeSameColourSevens] == sameColour);
    CHECK(counted[Tier::ThreeSevens] == threeSevens - 4 * oneSuit - sameColour);
    CHECK(counted[Tier::TwoPlayerSevens] == 24LL * 23 * 288);
    CHECK(counted[Tier::OneEachSevens] == 2 * 24LL * 288 * 23);

    long long all = 0;
    for (const auto& [tier, ways] : counted) all += ways;
    CHECK(all == 312LL * 311 * 310);
    CHECK(counted.size() == 7);
}

TEST_CASE("an ace counts low and high in a straight flush, and never wraps around")
{
    CHECK(holdem({"AH", "KH", "QH", "JH", "TH"}) == Tier::RoyalFlush);
    CHECK(holdem({"TH", "JH", "AH", "KH", "QH"}) == Tier::RoyalFlush);
    CHECK(holdem({"KH", "QH", "JH", "TH", "9H"}) == Tier::StraightFlush);
    CHECK(holdem({"AD", "5D", "4D", "3D", "2D"}) == Tier::StraightFlush);
    CHECK(holdem({"KD", "AD", "2D", "3D", "4D"}) == Tier::Flush);
    CHECK(holdem({"AD", "5D", "4D", "3D", "2C"}) == Tier::None);
    CHECK(holdem({"9C", "9D", "9H", "9S", "2C"}) == Tier::FourOfAKind);
    CHECK(holdem({"9C", "9D", "9H", "2S", "2C"}) == Tier::FullHouse);
    CHECK(holdem({"9C", "9D", "9H", "3S", "2C"}) == Tier::None);
    CHECK(holdem({"9C", "9D", "3H", "3S", "2C"}) == Tier::None);
}

TEST_CASE("all 2,598,960 five-card hands give the known counts")
{
    std::map<Tier, int> counted;
    int hands = 0;
    for (std::size_t a = 0; a < kCardsInDeck; ++a)
        for (std::size_t b = a + 1; b < kCardsInDeck; ++b)
            for (std::size_t c = b + 1; c < kCardsInDeck; ++c)
                for (std::size_t d = c + 1; d < kCardsInDeck; ++d)
                    for (std::size_t e = d + 1; e < kCardsInDeck; ++e) {
                        ++counted[holdemTier(
                            {cardAt(a), cardAt(b), cardAt(c), cardAt(d), cardAt(e)})];
                        ++hands;
                    }
    CHECK(hands == 2'598'960);
    CHECK(counted[Tier::RoyalFlush] == 4);
    CHECK(counted[Tier::StraightFlush] == 36);
    CHECK(counted[Tier::FourOfAKind] == 624);
    CHECK(counted[Tier::FullHouse] == 3'744);
    CHECK(counted[Tier::Flush] == 5'108);
    CHECK(counted.size() == 6);
}

TEST_CASE("a tier is known by its id")
{
    for (std::size_t i = 1; i < kTiers; ++i) {
        const auto tier = static_cast<Tier>(i);
        CHECK(tierOfId(idOf(tier)) == tier);
        CHECK_FALSE(titleOf(tier).empty());
    }
    CHECK_FALSE(tierOfId("none"));
    CHECK_FALSE(tierOfId("straight"));
}

}  // namespace jackpot::rules
