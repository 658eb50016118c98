// The steps of a round at the dealer's rail, one component for each phase.
import type { ComponentChildren } from "preact";

import type { useCardEntry } from "./card_entry";
import { Picker } from "./cards";
import { tierName, type Game, type Wagered } from "./game";

interface BetProps {
  bets: number;
  seats: number;
  busy: boolean;
  onToggleAll: () => void;
  onLock: () => void;
}

export function BetStep({ bets, seats, busy, onToggleAll, onLock }: BetProps) {
  return (
    <div class="step">
      <h2>Place the jackpot wagers</h2>
      <button type="button" onClick={() => onToggleAll()}>
        {bets === seats ? "No seat" : "All seats"}
      </button>
      <button type="button" class="primary" aria-disabled={busy} onClick={onLock}>
        Lock {bets === 1 ? "1 wager" : `${bets} wagers`} and deal
      </button>
    </div>
  );
}

interface DealProps {
  game: Game;
  entry: ReturnType<typeof useCardEntry>;
  busy: boolean;
  onReport: () => void;
  children: ComponentChildren; // the button for a void
}

export function DealStep({ game, entry, busy, onReport, children }: DealProps) {
  return (
    <>
      <div class="step">
        <h2>Enter the cards</h2>
        {children}
        <button type="button" class="primary" aria-disabled={busy} onClick={onReport}>
          Report the result
        </button>
      </div>
      <Picker game={game} cards={entry.cards} into={slotName(entry.current, game.boardSlots)} onPick={entry.placeCard} />
      <div class="deals" role="group" aria-label="Deal something that wins">
        <span>Deal a win</span>
        {game.wins.map((win) => (
          <button key={win.label} type="button" onClick={() => entry.deal(win)}>
            {win.label} <small>{win.pays}</small>
          </button>
        ))}
        <button type="button" onClick={() => entry.deal()}>
          Shuffled cards
        </button>
      </div>
      <p class="hint">Tap a card, or type it: 7 then D. Backspace removes a card. A seat without cards did not qualify.</p>
    </>
  );
}

interface CorrectProps {
  game: Game;
  entry: ReturnType<typeof useCardEntry>;
  round: number;
  needsReason: boolean; // it takes two people, at the desk
  reason: string;
  busy: boolean;
  onReason: (reason: string) => void;
  onSend: () => void;
  onCancel: () => void;
}

export function CorrectStep({ game, entry, round, needsReason, reason, busy, onReason, onSend, onCancel }: CorrectProps) {
  return (
    <>
      <div class="step">
        <h2>Correct round {round}</h2>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="primary" aria-disabled={busy} onClick={onSend}>
          {needsReason ? "Propose the correction" : "Correct the result"}
        </button>
      </div>
      <Picker game={game} cards={entry.cards} into={slotName(entry.current, game.boardSlots)} onPick={entry.placeCard} />
      {needsReason ? (
        <div class="void">
          <label for="correction-reason">Reason</label>
          <input id="correction-reason" value={reason} maxLength={500} onInput={(event) => onReason(event.currentTarget.value)} />
        </div>
      ) : null}
      <p class="hint">
        {needsReason
          ? "The press of the button stands. Two people correct the result at the desk: you propose it, another supervisor approves it."
          : "Change the cards that are wrong. You are named as the supervisor."}
      </p>
    </>
  );
}

interface PressProps {
  claim: Wagered;
  pressedAt: Date | undefined;
  busy: boolean;
  onPress: () => void;
  children: ComponentChildren; // the button for a void
}

export function PressStep({ claim, pressedAt, busy, onPress, children }: PressProps) {
  return (
    <div class="jackpot">
      <h2>
        Seat {claim.seat}: {tierName(claim.tier ?? "")}
      </h2>
      <button type="button" class="button" aria-disabled={busy} onClick={onPress}>
        Jackpot
      </button>
      <p class="hint">
        {pressedAt
          ? `Pressed at ${timeOfDay(pressedAt)}, not accepted yet. Press again to send it: the time of the first press counts.`
          : "Press the button when you see the hand. The time of the press decides whether two tables tie."}
      </p>
      {children}
    </div>
  );
}

export function WaitStep({ held, pressedAt }: { held: boolean; pressedAt: Date | undefined }) {
  return (
    <div class="jackpot" role="status">
      <h2>{held ? "Held for Surveillance" : "Being confirmed"}</h2>
      {pressedAt && <p class="moment">Pressed at {timeOfDay(pressedAt)}</p>}
      <p>
        {held
          ? "Pay nothing. Call Surveillance: they rule at the console on which table won first."
          : "Pay nothing yet. The money is locked, and the display has fallen. It is due after a short wait, unless another table’s press is too near."}
      </p>
    </div>
  );
}

interface NextProps {
  title: string;
  isVoided: boolean;
  busy: boolean;
  onNext: () => void;
  onClose: () => void;
  children: ComponentChildren; // the buttons for a correction and a void
}

export function NextStep({ title, isVoided, busy, onNext, onClose, children }: NextProps) {
  return (
    <div class="step">
      <h2>{title}</h2>
      {children}
      {isVoided ? (
        <button type="button" class="primary" onClick={onNext}>
          Next round
        </button>
      ) : (
        <button type="button" class="primary" aria-disabled={busy} onClick={onClose}>
          Close the round
        </button>
      )}
    </div>
  );
}

function slotName(slot: string, boardSlots: string[]): string {
  const [where, at] = slot.split("-");
  if (where === "board") return boardSlots[Number(at)] ?? "";
  return where ? `seat ${where}, ${at === "1" ? "second" : "first"} card` : "choose a place";
}

// With milliseconds, because they decide a tie.
const timeOfDay = (at: Date) =>
  `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
