// The table as its dealer sees it: players along the rim, seat 1 at the dealer's left, the dealer's cards below.
import { useEffect, useRef, useState } from "preact/hooks";

import { post, type ApiError } from "../lib/api";
import { dollars } from "../lib/money";
import { useCardEntry } from "./card_entry";
import { cardsOf, kGames, phaseOf, resultOf, slotsOf, type TableView } from "./game";
import { Payments } from "./payments";
import { Seats } from "./seats";
import { BetStep, DealStep, NextStep, PressStep, WaitStep } from "./steps";

interface Props {
  shown: TableView;
  person: string;
  error: ApiError | undefined; // of the last refresh
  onUpdate: (shown: TableView) => void;
}

function useSender(table: string, onUpdate: (shown: TableView) => void) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");

  // One action at a time; an error is shown next to the button that caused it.
  const send = async (what: string, body: object): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setRefusal("");
    try {
      onUpdate(await post<TableView>(`/demo/tables/${encodeURIComponent(table)}/${what}`, body));
      return true;
    } catch (thrown) {
      const words = (thrown as ApiError).message;
      setRefusal(`${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.)]$/.test(words) ? "" : "."}`);
      return false;
    } finally {
      setBusy(false);
    }
  };

  return { busy, refusal, setRefusal, send };
}

type Sender = ReturnType<typeof useSender>;

// The wagers, the press of the button and the void of the round.
function useRoundActions(shown: TableView, { send, setRefusal }: Sender) {
  const { round } = shown;
  const [cleared, setCleared] = useState(0);
  const [bets, setBets] = useState<number[]>([]);
  const [pressed, setPressed] = useState<{ round: number; at: Date; mark: number }>();
  const [reason, setReason] = useState<string>(); // of the void that the dealer is entering

  const lock = () =>
    void send("round", {
      round: shown.next_round,
      wagers: bets.map((seat) => ({
        seat,
        ...(shown.require_player_card ? { player_card: `${shown.table}-${seat}` } : {}),
      })),
    });

  // The age is measured from the first press, however often the request is repeated.
  const press = () => {
    const made = pressed?.round === round!.number ? pressed : { round: round!.number, at: new Date(), mark: performance.now() };
    setPressed(made);
    void send("confirm", { round: made.round, age_ms: Math.round(performance.now() - made.mark) });
  };

  const voidRound = async (event: Event) => {
    event.preventDefault();
    if (!reason?.trim()) return setRefusal("Enter the reason: it is recorded in the journal with your name.");
    if (await send("void", { round: round!.number, reason: reason.trim() })) setReason(undefined);
  };

  const nextRound = () => {
    setCleared(round!.number);
    setBets(round!.wagered.map((each) => each.seat));
    setRefusal("");
  };

  const toggle = (seat: number) =>
    setBets(bets.includes(seat) ? bets.filter((each) => each !== seat) : [...bets, seat].sort((a, b) => a - b));
  const toggleAll = () => setBets(bets.length === shown.seats ? [] : Array.from({ length: shown.seats }, (_, at) => at + 1));

  const pressedAt = pressed && pressed.round === round?.number ? pressed.at : undefined;
  return { cleared, bets, pressedAt, reason, setReason, lock, press, voidRound, nextRound, toggle, toggleAll };
}

export function Felt({ shown, person, error, onUpdate }: Props) {
  const game = kGames[shown.game];
  const { round, link, pool } = shown;
  const sender = useSender(shown.table, onUpdate);
  const { busy, refusal, setRefusal, send } = sender;
  const actions = useRoundActions(shown, sender);
  const { bets, reason, setReason } = actions;
  const felt = useRef<HTMLElement>(null);
  const rail = useRef<HTMLElement>(null);

  const phase = phaseOf(shown, actions.cleared);
  const wagered = phase === "bet" ? [] : (round?.wagered ?? []);
  const dealtSeats = wagered.map((each) => each.seat);
  const slots = slotsOf(game, dealtSeats);
  const isWaiting = link.undecided > 0;
  const canPick = phase === "deal" && !isWaiting;
  const entry = useCardEntry({ game, slots, dealtSeats, isDealing: phase === "deal", felt, setRefusal });
  const placed = phase === "deal" ? entry.cards : phase === "bet" ? {} : cardsOf(round);

  // A new round starts at its first slot, so that the dealer can type at once.
  useEffect(() => {
    setRefusal("");
    setReason(undefined);
    entry.start();
  }, [phase === "deal" ? round!.number : 0]);

  // When the focused button disappears, focus the next controls, so that keyboard users can continue.
  useEffect(() => {
    requestAnimationFrame(() => document.activeElement === document.body && rail.current?.focus());
  }, [phase]);

  const report = () => {
    const { result, missing } = resultOf(game, round!, entry.cards);
    if (missing) return setRefusal(missing);
    void send("result", result!);
  };

  const voidButton = (
    <button type="button" onClick={() => setReason(reason === undefined ? "" : undefined)} aria-expanded={reason !== undefined}>
      Void the round…
    </button>
  );
  const claim = wagered.find((each) => each.claim);
  return (
    <div class="table" data-phase={phase}>
      <Header shown={shown} round={phase === "bet" ? shown.next_round : round!.number} person={person} />
      <main ref={felt} onKeyDown={entry.typeKey}>
        {warningsFor(shown, error).map((each) => (
          <p key={each} class="trouble" role="status">
            {each}
          </p>
        ))}
        <Seats
          {...{ shown, game, phase, wagered, bets, placed, canPick }}
          current={entry.current}
          onToggle={actions.toggle}
          onCurrent={entry.setCurrent}
        />
        <section class="rail" aria-label="Dealer" ref={rail} tabIndex={-1}>
          {phase === "bet" && (
            <BetStep bets={bets.length} seats={shown.seats} busy={busy} onToggleAll={actions.toggleAll} onLock={actions.lock} />
          )}
          {phase === "deal" && isWaiting && (
            <p role="status">The result is kept in the table’s outbox. It is sent as soon as the link is back.</p>
          )}
          {canPick && (
            <DealStep game={game} entry={entry} busy={busy} onReport={report}>
              {voidButton}
            </DealStep>
          )}
          {phase === "press" && (
            <PressStep claim={claim!} pressedAt={actions.pressedAt} busy={busy} onPress={actions.press}>
              {voidButton}
            </PressStep>
          )}
          {phase === "wait" && <WaitStep held={pool.held} pressedAt={actions.pressedAt} />}
          {(phase === "over" || phase === "wait") && (
            <NextStep round={round!} isWaiting={phase === "wait"} onNext={actions.nextRound} />
          )}
          {reason !== undefined && (phase === "deal" || phase === "press") && (
            <VoidForm round={round!.number} reason={reason} busy={busy} onReason={setReason} onSubmit={actions.voidRound} />
          )}
          <p class="refusal" role="alert">
            {refusal}
          </p>
        </section>
      </main>
      <Payments shown={shown} />
      <footer>Demo table: every round here is journaled, signed and due like any other round of this controller.</footer>
    </div>
  );
}

function Header({ shown, round, person }: { shown: TableView; round: number; person: string }) {
  const { link, pool } = shown;
  const game = kGames[shown.game];
  return (
    <header>
      <div>
        <h1>
          {shown.table} <span class="demo">Demo</span>
        </h1>
        <p>
          {game.name}, round {round}
        </p>
      </div>
      <div class="meter">
        <span>Jackpot {pool.pool}</span>
        <strong data-testid="displayed">{dollars(pool.displayed_cents)}</strong>
      </div>
      <nav aria-label="Tables of the demo floor">
        {shown.floor.map((each) => (
          <a key={each} href={`/table/${each}`} aria-current={each === shown.table ? "page" : undefined}>
            {each}
          </a>
        ))}
      </nav>
      <p class="who">
        {person}
        <span class={link.online ? "link up" : "link"}>{link.online ? "Link up" : "Link down"}</span>
      </p>
    </header>
  );
}

interface VoidProps {
  round: number;
  reason: string;
  busy: boolean;
  onReason: (reason: string) => void;
  onSubmit: (event: Event) => void;
}

function VoidForm({ round, reason, busy, onReason, onSubmit }: VoidProps) {
  return (
    <form class="void" onSubmit={onSubmit}>
      <label for="reason">Reason for the void</label>
      <input id="reason" value={reason} maxLength={200} onInput={(event) => onReason(event.currentTarget.value)} />
      <button class="danger" aria-disabled={busy}>
        Void round {round}
      </button>
    </form>
  );
}

function warningsFor({ link, pool, suspended }: TableView, error: ApiError | undefined): string[] {
  if (error) return [`${error.message} The page may be out of date.`];
  const all = [];
  if (link.stopped_by) all.push(`The table’s link has stopped: ${link.stopped_by}. Somebody must check it.`);
  else if (!link.online)
    all.push("The link to the controller is down. The open round continues and is sent later; no new round can be opened.");
  if (pool.unavailable) all.push("The journal cannot be written: return the jackpot wagers of this round and continue without the jackpot.");
  if (suspended) all.push("This table is suspended: play continues without the jackpot.");
  else if (link.online && !pool.open) all.push("The pool is suspended: it accepts no wagers.");
  return all;
}
