// The felt: the seats with wagers and hands along the rim, and the dealer's cards.
import { dollars } from "../lib/money";
import { Slot } from "./cards";
import { boardKey, handKey, tierName, type Cards, type ClaimState, type Game, type Phase, type TableView, type Wagered } from "./game";

const kClaims: Record<ClaimState, string> = {
  claimed: "claims the jackpot",
  locked: "being confirmed",
  held: "held",
  due: "due",
  final: "final",
};

const Chip = ({ cents }: { cents: number }) => <span class="chip">{cents % 100 ? dollars(cents) : `$${cents / 100}`}</span>;

interface Props {
  shown: TableView;
  game: Game;
  phase: Phase;
  wagered: Wagered[];
  bets: number[];
  placed: Cards;
  current: string; // the slot of the next card
  canPick: boolean;
  onToggle: (seat: number) => void;
  onCurrent: (slot: string) => void;
}

export function Seats(props: Props) {
  const { shown, game, placed, current, canPick, onCurrent } = props;
  const seats = Array.from({ length: shown.seats }, (_, at) => at + 1);
  return (
    <section class="felt" aria-label="Felt">
      <ol class="seats" data-count={shown.seats}>
        {seats.map((seat) => (
          <Seat key={seat} seat={seat} {...props} />
        ))}
      </ol>
      <div class="dealer">
        <span class="number">{game.boardName}</span>
        <div class="hand">
          {game.boardSlots.map((name, at) => {
            const slot = boardKey(at);
            return (
              <Slot
                key={slot}
                slot={slot}
                name={name}
                card={placed[slot]}
                isCurrent={current === slot}
                {...(canPick ? { onPick: () => onCurrent(slot) } : {})}
              />
            );
          })}
        </div>
        <span class="arch" aria-hidden="true">
          {shown.game === "uth" ? "Two cards and the flop" : "Your two cards and the dealer’s first"}
        </span>
      </div>
    </section>
  );
}

function Seat({ seat, ...props }: Props & { seat: number }) {
  const { shown, phase, wagered, bets, placed, current, canPick, onToggle, onCurrent } = props;
  const wager = wagered.find((each) => each.seat === seat);
  const isBet = phase === "bet" ? bets.includes(seat) : wager !== undefined;
  // Along the rim: the middle seats are the farthest from the dealer.
  const off = (2 * (seat - 1)) / Math.max(shown.seats - 1, 1) - 1;
  return (
    <li style={{ "--off": off * off }}>
      <span class="number">Seat {seat}</span>
      {phase === "bet" ? (
        <button
          type="button"
          class="spot"
          aria-pressed={isBet}
          aria-label={`Seat ${seat}: jackpot wager of ${dollars(shown.wager_cents)}`}
          onClick={() => onToggle(seat)}
        >
          {isBet ? <Chip cents={shown.wager_cents} /> : "Wager"}
        </button>
      ) : (
        <span class="spot">{isBet && <Chip cents={shown.wager_cents} />}</span>
      )}
      <div class="hand">
        {wager &&
          [0, 1].map((at) => {
            const slot = handKey(seat, at);
            return (
              <Slot
                key={slot}
                slot={slot}
                name={`Seat ${seat}, ${at ? "second" : "first"} card`}
                card={placed[slot]}
                isCurrent={current === slot}
                {...(canPick ? { onPick: () => onCurrent(slot) } : {})}
              />
            );
          })}
      </div>
      {wager?.tier && (
        <span class={wager.claim ? "tier claims" : "tier"}>
          {tierName(wager.tier)}
          {wager.claim && <em>{kClaims[wager.claim]}</em>}
        </span>
      )}
    </li>
  );
}
