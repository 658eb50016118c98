// The table as its dealer sees it: players along the rim, seat 1 at the dealer's left, the dealer's cards below.
import { useEffect, useRef, useState } from "preact/hooks";

import { post, type ApiError } from "../lib/api";
import { dollars } from "../lib/money";
import { useCardEntry } from "./card_entry";
import { boardKey, cardsOf, kGames, kVoidGrounds, phaseOf, resultOf, slotsOf, type Game, type Phase, type Result, type TableView } from "./game";
import { Payments } from "./payments";
import { Seats } from "./seats";
import { BetStep, CorrectStep, DealStep, NextStep, PressStep, WaitStep } from "./steps";

interface Props {
  shown: TableView;
  person: string;
  error: ApiError | undefined; // of the last refresh
  onUpdate: (shown: TableView) => void;
}

function useSender(table: string, onUpdate: (shown: TableView) => void) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");
  const [news, setNews] = useState("");
  const encoded = encodeURIComponent(table);

  // One action at a time; an error is shown next to the button that caused it. True, or the code of the error.
  const attempt = async (act: () => Promise<void>): Promise<true | string> => {
    if (busy) return "busy";
    setBusy(true);
    setRefusal("");
    setNews("");
    try {
      await act();
      return true;
    } catch (thrown) {
      const { code, message } = thrown as ApiError;
      setRefusal(`${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.)]$/.test(message) ? "" : "."}`);
      return code;
    } finally {
      setBusy(false);
    }
  };
  const send = (what: string, body: object) =>
    attempt(async () => onUpdate(await post<TableView>(`/demo/tables/${encoded}/${what}`, body)));
  // At the desk, as the person who is signed in.
  const propose = async ({ round, board, hands }: Result, reason: string) =>
    attempt(async () => {
      const answer = await post<{ proposal?: number }>(`/tables/${encoded}/rounds/${round}/correct`, { board, hands, reason });
      setNews(
        answer.proposal === undefined
          ? "The result is corrected."
          : `Proposal ${answer.proposal}: another supervisor approves it at the console. Until then the result stands as it is.`,
      );
    });

  return { busy, refusal, news, setRefusal, send, propose };
}

type Sender = ReturnType<typeof useSender>;

// The wagers, the press of the button, the void and the end of the round.
function useRoundActions(shown: TableView, { send, setRefusal }: Sender) {
  const { round } = shown;
  const [cleared, setCleared] = useState(0);
  const [bets, setBets] = useState<number[]>([]);
  const [pressed, setPressed] = useState<{ round: number; at: Date; mark: number }>();
  const [isVoiding, setVoiding] = useState(false); // the dealer chooses the ground

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

  const voidRound = async (ground: string) => {
    if ((await send("void", { round: round!.number, ground })) === true) setVoiding(false);
  };

  const nextRound = () => {
    setCleared(round!.number);
    setBets(round!.wagered.map((each) => each.seat));
    setRefusal("");
  };
  const close = async () => {
    if ((await send("close", { round: round!.number })) === true) nextRound();
  };

  const toggle = (seat: number) =>
    setBets(bets.includes(seat) ? bets.filter((each) => each !== seat) : [...bets, seat].sort((a, b) => a - b));
  const toggleAll = () => setBets(bets.length === shown.seats ? [] : Array.from({ length: shown.seats }, (_, at) => at + 1));

  const pressedAt = pressed && pressed.round === round?.number ? pressed.at : undefined;
  return { cleared, bets, pressedAt, isVoiding, setVoiding, lock, press, voidRound, nextRound, close, toggle, toggleAll };
}

// A correction of the result. Before the button the table sends it; later it takes two people, at the desk.
function useCorrection(shown: TableView, { send, propose, setRefusal }: Sender) {
  const [round, setRound] = useState<number>(); // that is being corrected
  const [reason, setReason] = useState("");
  const [takesTwo, setTakesTwo] = useState(false); // as the controller has answered
  const needsReason = takesTwo || shown.round?.confirmed === true;

  const start = () => {
    setRound(shown.round!.number);
    setReason("");
    setTakesTwo(false);
  };
  const cancel = () => {
    setRound(undefined);
    setRefusal("");
  };
  const submit = async (result: Result) => {
    if (!needsReason) {
      const code = await send("correct", result);
      if (code === true) setRound(undefined);
      else if (code === "needs_two_people") setTakesTwo(true);
      return;
    }
    if (!reason.trim()) return setRefusal("Enter the reason: it is recorded in the journal with your name.");
    if ((await propose(result, reason.trim())) === true) setRound(undefined);
  };
  return { isOn: round !== undefined && round === shown.round?.number, needsReason, reason, setReason, start, cancel, submit };
}

// The title of the last step of a round.
function titleOf({ round, awards }: TableView, isWaiting: boolean): string {
  const mine = awards.filter((each) => each.round === round!.number);
  if (round!.voided) return "The round is void";
  if (isWaiting) return "Play can continue";
  if (mine.some((each) => each.state === "due" || each.state === "paid")) return "Pay in this order";
  return mine.some((each) => each.state === "withheld") ? "An award is withheld: call a supervisor" : "No seat wins";
}

export function Felt({ shown, person, error, onUpdate }: Props) {
  const game = kGames[shown.game];
  const { round, link } = shown;
  const sender = useSender(shown.table, onUpdate);
  const { setRefusal } = sender;
  const actions = useRoundActions(shown, sender);
  const correction = useCorrection(shown, sender);
  const { bets, setVoiding } = actions;
  const felt = useRef<HTMLElement>(null);
  const rail = useRef<HTMLElement>(null);

  const phase = phaseOf(shown, actions.cleared);
  const wagered = phase === "bet" ? [] : (round?.wagered ?? []);
  const dealtSeats = wagered.map((each) => each.seat);
  const slots = slotsOf(game, dealtSeats);
  const isUndecided = link.undecided > 0;
  const isCorrecting = correction.isOn && phase !== "bet" && phase !== "deal" && !round!.voided;
  const isEntering = phase === "deal" || isCorrecting;
  const canPick = isEntering && !isUndecided;
  const entry = useCardEntry({ game, slots, dealtSeats, isDealing: isEntering, felt, setRefusal });
  const placed = isEntering ? entry.cards : phase === "bet" ? {} : cardsOf(round);

  // A new round starts at its first slot, so that the dealer can type at once.
  useEffect(() => {
    setRefusal("");
    setVoiding(false);
    if (phase === "deal") entry.start();
  }, [phase === "deal" ? round!.number : 0]);

  // When the focused button disappears, focus the next controls, so that keyboard users can continue.
  useEffect(() => {
    requestAnimationFrame(() => document.activeElement === document.body && rail.current?.focus());
  }, [phase, isCorrecting]);

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
          <Rail {...{ shown, game, phase, entry, canPick, isCorrecting, actions, correction, sender }} />
        </section>
      </main>
      <Payments shown={shown} />
      <footer>Demo table: every round here is journaled, signed and due like any other round of this controller.</footer>
    </div>
  );
}

interface RailProps {
  shown: TableView;
  game: Game;
  phase: Phase;
  entry: ReturnType<typeof useCardEntry>;
  canPick: boolean;
  isCorrecting: boolean;
  actions: ReturnType<typeof useRoundActions>;
  correction: ReturnType<typeof useCorrection>;
  sender: Sender;
}

// The controls of the present step.
function Rail({ shown, game, phase, entry, canPick, isCorrecting, actions, correction, sender }: RailProps) {
  const { round } = shown;
  const { busy, refusal, news, setRefusal, send } = sender;
  const { bets, isVoiding, setVoiding } = actions;
  const wagered = round?.wagered ?? [];
  const withResult = (then: (result: Result) => unknown) => () => {
    const { result, missing } = resultOf(game, round!, entry.cards);
    if (missing) return setRefusal(missing);
    void then(result!);
  };

  const voidButton = (
    <button type="button" onClick={() => setVoiding(!isVoiding)} aria-expanded={isVoiding}>
      Void the round…
    </button>
  );
  const correctButton = (
    <button
      type="button"
      onClick={() => {
        correction.start();
        entry.start(cardsOf(round), boardKey(0));
      }}
    >
      Correct the result…
    </button>
  );
  const isLast = phase === "over" || phase === "wait";
  const claim = wagered.find((each) => each.claim);
  return (
    <>
      {phase === "bet" && (
        <BetStep bets={bets.length} seats={shown.seats} busy={busy} onToggleAll={actions.toggleAll} onLock={actions.lock} />
      )}
      {phase === "deal" && !canPick && (
        <p role="status">The result is kept in the table’s outbox. It is sent as soon as the link is back.</p>
      )}
      {phase === "deal" && canPick && (
        <DealStep game={game} entry={entry} busy={busy} onReport={withResult((result) => send("result", result))}>
          {voidButton}
        </DealStep>
      )}
      {isCorrecting && (
        <CorrectStep
          {...{ game, entry, busy }}
          round={round!.number}
          needsReason={correction.needsReason}
          reason={correction.reason}
          onReason={correction.setReason}
          onSend={withResult(correction.submit)}
          onCancel={correction.cancel}
        />
      )}
      {phase === "press" && !isCorrecting && (
        <PressStep claim={claim!} pressedAt={actions.pressedAt} busy={busy} onPress={actions.press}>
          <div class="step">
            {correctButton}
            {voidButton}
          </div>
        </PressStep>
      )}
      {phase === "wait" && !isCorrecting && (
        <WaitStep held={wagered.some((each) => each.claim === "held")} pressedAt={actions.pressedAt} />
      )}
      {isLast && !isCorrecting && (
        <NextStep
          title={titleOf(shown, phase === "wait")}
          isVoided={round!.voided}
          busy={busy}
          onNext={actions.nextRound}
          onClose={actions.close}
        >
          {!round!.voided && correctButton}
          {!round!.voided && !round!.confirmed && voidButton}
        </NextStep>
      )}
      {isVoiding && !round?.voided && phase !== "bet" && !isCorrecting && (
        <VoidForm game={shown.game} round={round!.number} busy={busy} onSubmit={actions.voidRound} />
      )}
      <p class="refusal" role="alert">
        {refusal}
      </p>
      <p class="news" role="status">
        {news}
      </p>
    </>
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
  game: TableView["game"];
  round: number;
  busy: boolean;
  onSubmit: (ground: string) => void;
}

function VoidForm({ game, round, busy, onSubmit }: VoidProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit(String(new FormData(event.currentTarget as HTMLFormElement).get("ground")));
  };
  return (
    <form class="void" onSubmit={submit}>
      <label for="ground">Ground of the void</label>
      <select id="ground" name="ground">
        {kVoidGrounds.map((each) => (
          <option key={each.id} value={each.id}>
            {each.words} ({each.rule[game]})
          </option>
        ))}
      </select>
      <button class="danger" aria-disabled={busy}>
        Void round {round}
      </button>
    </form>
  );
}

function warningsFor({ link, pool, suspended, suspended_by_desk }: TableView, error: ApiError | undefined): string[] {
  if (error) return [`${error.message} The page may be out of date.`];
  const all = [];
  if (link.stopped_by) all.push(`The table’s link has stopped: ${link.stopped_by}. Somebody must check it.`);
  else if (!link.online)
    all.push("The link to the controller is down. The open round continues and is sent later; no new round can be opened.");
  if (pool.unavailable) all.push("The journal cannot be written: return the jackpot wagers of this round and continue without the jackpot.");
  if (suspended)
    all.push(
      `This table is suspended${suspended_by_desk ? " by the desk, and only the desk can end it" : ""}: play continues without the jackpot.`,
    );
  else if (link.online && !pool.open) all.push("The pool is suspended: it accepts no wagers.");
  return all;
}
