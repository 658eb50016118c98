// Cards on the table, and the picker. A card takes one tap, or two keys ("7D") with the focus anywhere.
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
  onPick?: () => void; // absent: the card cannot be changed
  slot: string;
}

export function Slot({ name, card, isCurrent, onPick, slot }: SlotProps) {
  const face = card && <Face card={card} />;
  const label = `${name}: ${card ? cardName(card) : "no card"}`;
  if (!onPick)
    return (
      <span class={card ? "slot lies" : "slot"} role="img" aria-label={label}>
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
      <span class="visually-hidden">{label}</span>
    </button>
  );
}

interface PickerProps {
  game: Game;
  cards: Cards;
  into: string; // the slot of the next card
  onPick: (card: string) => void;
}

export function Picker({ game, cards, into, onPick }: PickerProps) {
  return (
    <div class="picker" role="group" aria-label={`Cards, for: ${into}`}>
      {[...kSuits].flatMap((suit) =>
        [...kRanks].map((rank) => {
          const card = rank + suit;
          const isUsedUp = countOf(cards, card) >= game.decks;
          return (
            <button
              key={card}
              type="button"
              aria-disabled={isUsedUp}
              onClick={() => onPick(card)}
            >
              <Face card={card} />
              <span class="visually-hidden">{cardName(card)}</span>
            </button>
          );
        }),
      )}
    </div>
  );
}

// Two keys make a card; "10" also means a ten.
export class CardKeys {
  private rank = "";

  // The card that this key completes; "" if the card is not complete yet; undefined for any other key.
  press(key: string): string | undefined {
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
