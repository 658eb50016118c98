// Cards on the felt, and the picker: one tap a card, or two keys ("7D") wherever on the table the focus is.
import { cardName, cardSign, countOf, isRed, kRanks, kSuits, type Cards, type Game } from "./game";

const Face = ({ card }: { card: string }) => (
  <span class={isRed(card) ? "face red" : "face"} aria-hidden="true">
    {cardSign(card).slice(0, -1)}
    <span class="suit">{cardSign(card).slice(-1)}</span>
  </span>
);

interface SlotProps {
  name: string; // "Seat 3, first card"
  card: string | undefined;
  isCurrent?: boolean;
  onPick?: () => void; // without it, the card lies still
  slot: string;
}

export function Slot({ name, card, isCurrent, onPick, slot }: SlotProps) {
  const face = card && <Face card={card} />;
  const said = `${name}: ${card ? cardName(card) : "no card"}`;
  if (!onPick)
    return (
      <span class={card ? "slot lies" : "slot"} role="img" aria-label={said}>
        {face}
      </span>
    );
  return (
    <button
      type="button"
      class={card ? "slot lies" : "slot"}
      aria-current={isCurrent ? "true" : undefined}
      data-slot={slot}
      onClick={onPick}
      onFocus={onPick}
    >
      {face}
      <span class="said">{said}</span>
    </button>
  );
}

interface PickerProps {
  game: Game;
  cards: Cards;
  into: string; // what the next card is for
  onPick: (card: string) => void;
}

export function Picker({ game, cards, into, onPick }: PickerProps) {
  return (
    <div class="picker" role="group" aria-label={`Cards, for: ${into}`}>
      {[...kSuits].flatMap((suit) =>
        [...kRanks].map((rank) => {
          const card = rank + suit;
          const isGone = countOf(cards, card) >= game.decks;
          return (
            <button
              key={card}
              type="button"
              aria-disabled={isGone}
              onClick={() => onPick(card)}
            >
              <Face card={card} />
              <span class="said">{cardName(card)}</span>
            </button>
          );
        }),
      )}
    </div>
  );
}

// Two keys make a card. "10" is a ten, too.
export class Typist {
  private rank = "";

  // The card that this key completes; "" where it may become one; nothing where the key is none of these.
  take(key: string): string | undefined {
    const typed = key.toUpperCase();
    if (this.rank === "1" && typed === "0") return ((this.rank = "T"), "");
    if (this.rank && this.rank !== "1" && kSuits.includes(typed) && typed.length === 1) {
      const card = this.rank + typed;
      this.rank = "";
      return card;
    }
    if (typed.length === 1 && (kRanks.includes(typed) || typed === "1")) return ((this.rank = typed), "");
    this.rank = "";
    return undefined;
  }
}
