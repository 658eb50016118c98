// The cards that the dealer enters: where the next one goes, by tap or by key.
import { useRef, useState } from "preact/hooks";

import { CardKeys } from "./cards";
import { cardSign, countOf, filledUp, winning, type Cards, type Game, type Win } from "./game";

interface Options {
  game: Game;
  slots: string[];
  dealtSeats: number[];
  isDealing: boolean;
  felt: { current: HTMLElement | null }; // contains the slots
  setRefusal: (text: string) => void;
}

export function useCardEntry({ game, slots, dealtSeats, isDealing, felt, setRefusal }: Options) {
  const [cards, setCards] = useState<Cards>({});
  const [current, setCurrent] = useState("");
  const cardKeys = useRef(new CardKeys());

  const moveTo = (slot: string) => {
    setCurrent(slot);
    requestAnimationFrame(() => felt.current?.querySelector<HTMLElement>(`[data-slot="${slot}"]`)?.focus());
  };

  // `placed`: the cards that lie there already.
  const start = (placed: Cards = {}, first = slots[0]) => {
    setCards(placed);
    if (first) moveTo(first);
  };

  const placeCard = (card: string) => {
    if (!slots.includes(current)) return setRefusal("Choose a place for the card first.");
    const without = { ...cards };
    delete without[current];
    if (countOf(without, card) >= game.decks)
      return setRefusal(
        game.decks === 1
          ? `${cardSign(card)} is on the table already: there is one deck.`
          : `All ${game.decks} of ${cardSign(card)} are on the table already.`,
      );
    setRefusal("");
    setCards({ ...without, [current]: card });
    const next = slots.slice(slots.indexOf(current) + 1).find((slot) => !cards[slot]) ?? slots.find((slot) => slot !== current && !cards[slot]);
    if (next) moveTo(next);
  };

  const removeCard = () => {
    // On an empty slot, remove the card before it.
    const at = slots.indexOf(current);
    const slot = cards[current] ? current : (slots[at - 1] ?? current);
    const { [slot]: _, ...rest } = cards;
    setCards(rest);
    moveTo(slot);
  };

  const typeKey = (event: KeyboardEvent) => {
    if (!isDealing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
    if (event.key === "Backspace" || event.key === "Delete") {
      event.preventDefault();
      return removeCard();
    }
    const card = cardKeys.current.press(event.key);
    if (card === undefined) return;
    event.preventDefault();
    if (card) placeCard(card);
  };

  const deal = (win?: Win) => {
    const seat = dealtSeats.find((each) => current.startsWith(`${each}-`)) ?? dealtSeats[0];
    setRefusal("");
    if (win && seat === undefined) return setRefusal("Nobody has wagered: there is no seat that could win.");
    setCards(win ? winning(game, win, slots, seat!) : filledUp(game, slots, cards));
  };

  return { cards, current, setCurrent, start, placeCard, typeKey, deal };
}
