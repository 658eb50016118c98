#include "tools/floorsim/cards.h"

#include <algorithm>
#include <bitset>

namespace jackpot::floorsim {
namespace {

constexpr std::string_view kRanks = "23456789TJQKA";
constexpr std::string_view kSuits = "CDHS";
constexpr int kSeven = 5;  // index into kRanks
constexpr int kTen = 8;
constexpr unsigned kDiamonds = 1;
constexpr unsigned kDeck = 52;

constexpr std::array<std::string_view, kTierCount> kNames = {
    "none",           "three_sevens_diamonds", "three_suited_sevens", "three_same_colour_sevens",
    "three_sevens",   "two_player_sevens",     "one_each_sevens",     "royal_flush",
    "straight_flush", "four_of_a_kind",        "full_house",          "flush",
    "bonus"};

constexpr int rankOf(Card card) { return card / 4; }
constexpr unsigned suitOf(Card card) { return card % 4U; }
constexpr Card cardAt(int rank, unsigned suit)
{
    return static_cast<Card>(static_cast<unsigned>(rank) * 4 + suit);
}
constexpr bool isRed(Card card) { return suitOf(card) == 1 || suitOf(card) == 2; }

std::array<std::string, kDeck> makeTexts()
{
    std::array<std::string, kDeck> texts;
    for (std::size_t i = 0; i < kDeck; ++i) texts[i] = {kRanks[i / 4], kSuits[i % 4]};
    return texts;
}

// The cards that are not dealt yet. Drawing one at random each time is a shuffle.
class Shoe {
public:
    Shoe(unsigned decks, Random& random) : decks_{decks}, random_{random} {}
    Card draw()
    {
        while (true) {
            const std::uint32_t at = random_.below(decks_ * kDeck);
            if (taken_[at]) continue;
            taken_[at] = true;
            return static_cast<Card>(at % kDeck);
        }
    }
    Card take(Card card)
    {
        std::size_t at = card;
        while (taken_[at]) at += kDeck;
        taken_[at] = true;
        return card;
    }

private:
    unsigned decks_;
    Random& random_;
    std::bitset<std::size_t{6} * kDeck> taken_;
};

}  // namespace

std::string_view nameOf(Tier tier) { return kNames[static_cast<std::size_t>(tier)]; }

std::optional<Tier> tierNamed(std::string_view name)
{
    for (std::size_t i = 1; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<Tier>(i);
    return std::nullopt;
}

std::int64_t fixedCents(Tier tier, std::int64_t wagerCents)
{
    const std::int64_t column = wagerCents / 250;  // BJ 14.24: 1 for $2.50, 2 for $5
    switch (tier) {
        case Tier::ThreeSameColourSevens: return 125'000 * column;
        case Tier::ThreeSevens: return 50'000 * column;
        case Tier::TwoPlayerSevens: return 5'000 * column;
        case Tier::OneEachSevens: return 2'500 * column;
        case Tier::FourOfAKind: return 50'000;
        case Tier::FullHouse: return 15'000;
        case Tier::Flush: return 10'000;
        default: return 0;
    }
}

const std::string& textOf(Card card)
{
    static const auto kTexts = makeTexts();
    return kTexts[card];
}

std::optional<Card> cardOf(std::string_view text)
{
    if (text.size() != 2) return std::nullopt;
    const auto rank = kRanks.find(text[0]);
    const auto suit = kSuits.find(text[1]);
    if (rank == std::string_view::npos || suit == std::string_view::npos) return std::nullopt;
    return static_cast<Card>(rank * 4 + suit);
}

Tier blazingSevens(Card dealer, Card first, Card second)
{
    const bool dealers = rankOf(dealer) == kSeven;
    const int players = (rankOf(first) == kSeven ? 1 : 0) + (rankOf(second) == kSeven ? 1 : 0);
    if (players == 0) return Tier::None;
    if (players == 1) return dealers ? Tier::OneEachSevens : Tier::None;
    if (!dealers) return Tier::TwoPlayerSevens;
    if (first == second && second == dealer)
        return suitOf(dealer) == kDiamonds ? Tier::ThreeSevensDiamonds : Tier::ThreeSuitedSevens;
    return isRed(first) == isRed(second) && isRed(second) == isRed(dealer)
               ? Tier::ThreeSameColourSevens
               : Tier::ThreeSevens;
}

Tier holdem(const std::array<Card, 3>& flop, Card first, Card second)
{
    std::array<Card, 5> cards = {flop[0], flop[1], flop[2], first, second};
    std::ranges::sort(cards);
    const auto suited =
        std::ranges::all_of(cards, [&](Card card) { return suitOf(card) == suitOf(cards[0]); });
    std::array<int, 5> ranks{};
    std::ranges::transform(cards, ranks.begin(), rankOf);
    if (suited) {
        const bool run = ranks[4] - ranks[0] == 4;  // no rank twice in one suit
        const bool lowRun = ranks[4] == 12 && ranks[3] == 3;
        if (run && ranks[0] == kTen) return Tier::RoyalFlush;
        return run || lowRun ? Tier::StraightFlush : Tier::Flush;
    }
    if (ranks[0] == ranks[3] || ranks[1] == ranks[4]) return Tier::FourOfAKind;
    if (ranks[0] == ranks[1] && ranks[3] == ranks[4] &&
        (ranks[2] == ranks[1] || ranks[2] == ranks[3]))
        return Tier::FullHouse;
    return Tier::None;
}

Deal deal(Game game, SeatSet seats, Random& random, Tier stacked, int winner)
{
    const bool isSevens = game == Game::BlazingSevens;
    Shoe shoe{isSevens ? 6U : 1U, random};
    Deal dealt;
    const std::size_t boardCards = isSevens ? 1 : 3;
    if (isJackpot(stacked) && isSevens) {
        constexpr std::array<unsigned, 3> kOtherSuits = {0, 2, 3};
        const unsigned suit = isAll(stacked) ? kDiamonds : kOtherSuits[random.below(3)];
        dealt.board[0] = shoe.take(cardAt(kSeven, suit));
        for (Card& card : dealt.hands[static_cast<std::size_t>(winner)])
            card = shoe.take(dealt.board[0]);
    } else if (isJackpot(stacked)) {
        const unsigned suit = random.below(4);
        // From the straight that begins with an ace below the two, to the one that begins with the
        // nine.
        const int low = isAll(stacked) ? kTen : static_cast<int>(random.below(9)) - 1;
        std::array<Card, 5> run{};
        for (int i = 0; i < 5; ++i)
            run[static_cast<std::size_t>(i)] = shoe.take(cardAt(low + i < 0 ? 12 : low + i, suit));
        for (std::size_t i = 4; i > 0; --i)
            std::swap(run[i], run[random.below(static_cast<std::uint32_t>(i) + 1)]);
        dealt.board = {run[0], run[1], run[2]};
        dealt.hands[static_cast<std::size_t>(winner)] = {run[3], run[4]};
    } else {
        winner = 0;
        for (std::size_t i = 0; i < boardCards; ++i) dealt.board[i] = shoe.draw();
    }
    for (int seat = 1; seat <= kSeats; ++seat) {
        if (!has(seats, seat)) continue;
        auto& hand = dealt.hands[static_cast<std::size_t>(seat)];
        if (seat != winner)
            for (Card& card : hand) card = shoe.draw();
        dealt.tiers[static_cast<std::size_t>(seat)] =
            isSevens ? blazingSevens(dealt.board[0], hand[0], hand[1])
                     : holdem(dealt.board, hand[0], hand[1]);
    }
    return dealt;
}

}  // namespace jackpot::floorsim
