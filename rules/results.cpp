#include "rules/results.h"

#include <bitset>
#include <string>

namespace jackpot::rules {
namespace {

std::optional<Refusal> evaluateCards(const ReportResult& result, Game game, Tiers& tiers)
{
    const bool holdem = game == Game::UltimateTexasHoldem;
    std::array<int, kCardsInDeck> count{};
    std::optional<Refusal> refused;
    const auto read = [&](const std::string& text) {
        const auto card = parseCard(text);
        if (!card && !refused)
            refused = refuse(
                RefusalCode::BadCard, "",
                "\"" + text.substr(0, 8) + "\" is no card: rank 23456789TJQKA and suit CDHS");
        if (card) ++count.at(card->index());
        return card.value_or(Card{});
    };

    std::array<Card, 3> board{};
    for (std::size_t i = 0; i < result.board.size(); ++i) board.at(i) = read(result.board[i]);
    for (const Hand& hand : result.hands) {
        const Card first = read(hand.cards[0]);
        const Card second = read(hand.cards[1]);
        tiers.at(static_cast<std::size_t>(hand.seat - 1)) =
            holdem ? holdemTier({first, second, board[0], board[1], board[2]})
                   : blazingSevensTier(first, second, board[0]);
    }
    if (refused) return refused;

    const int decks = decksOf(game);
    for (std::size_t i = 0; i < kCardsInDeck; ++i)
        if (count.at(i) > decks)
            return refuse(RefusalCode::ImpossibleCards, ruleOf(game, "BJ 3.1.1", "UTH 3.1"),
                          std::to_string(count.at(i)) + " of " + toText(cardAt(i)) +
                              ": the game has " + std::to_string(decks) +
                              (decks == 1 ? " deck" : " decks"));
    return std::nullopt;
}

}  // namespace

std::optional<Refusal> evaluate(const ReportResult& result, const Round& round, Game game,
                                Tiers& tiers)
{
    const bool holdem = game == Game::UltimateTexasHoldem;
    const std::size_t boardSize = holdem ? 3 : 1;
    if (result.board.size() != boardSize)
        return refuse(RefusalCode::WrongCardCount, ruleOf(game, "BJ 14.24.1", "UTH 15.2.6"),
                      holdem ? "the flop has three cards" : "the board is the dealer's first card");

    std::bitset<kMaxSeats + 1> seen;
    for (const Hand& hand : result.hands) {
        const bool inRange = hand.seat >= 1 && hand.seat <= kMaxSeats;
        if (inRange && seen.test(static_cast<std::size_t>(hand.seat)))
            return refuse(RefusalCode::DuplicateSeat, ruleOf(game, "BJ 5.6", "UTH 5.7"),
                          seatText(hand.seat) + " has more than one hand");
        if (!round.hasWager(hand.seat))
            return refuse(RefusalCode::SeatHasNoWager, ruleOf(game, "BJ 14.7", "UTH 15.2.4"),
                          seatText(hand.seat) + " has no jackpot wager in this round");
        seen.set(static_cast<std::size_t>(hand.seat));
        if (hand.cards.size() != 2)
            return refuse(RefusalCode::WrongCardCount, ruleOf(game, "BJ 14.24.1", "UTH 15.2.6"),
                          seatText(hand.seat) + " has " + std::to_string(hand.cards.size()) +
                              " cards: a qualifying hand has the player's first two");
    }
    return evaluateCards(result, game, tiers);
}

}  // namespace jackpot::rules
