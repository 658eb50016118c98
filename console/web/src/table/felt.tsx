// The table as its dealer sees it: players along the rim, seat 1 at the dealer's left, the dealer's cards below.
import { useEffect, useRef, useState } from "preact/hooks";

import { post, type ApiError } from "../lib/api";
import { dollars } from "../lib/money";
import { Picker, Slot, CardKeys } from "./cards";
import {
  boardKey,
  cardSign,
  cardsOf,
  countOf,
  filledUp,
  handKey,
  kGames,
  phaseOf,
  resultOf,
  slotsOf,
  tierName,
  winning,
  type Cards,
  type TableView,
  type Win,
} from "./game";
import { Payments } from "./payments";

interface Props {
  shown: TableView;
  person: string;
  error: ApiError | undefined; // of the last refresh
  onUpdate: (shown: TableView) => void;
}

const kAll = "all";

export function Felt({ shown, person, error, onUpdate }: Props) {
  const game = kGames[shown.game];
  const { round, link, pool } = shown;
  const [cleared, setCleared] = useState(0);
  const [bets, setBets] = useState<number[]>([]);
  const [cards, setCards] = useState<Cards>({});
  const [current, setCurrent] = useState("");
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");
  const [pressed, setPressed] = useState<{ round: number; at: Date; mark: number }>();
  const [reason, setReason] = useState<string>(); // of the void that the dealer is entering
  const cardKeys = useRef(new CardKeys());
  const felt = useRef<HTMLElement>(null);
  const rail = useRef<HTMLElement>(null);

  const phase = phaseOf(shown, cleared);
  const seats = Array.from({ length: shown.seats }, (_, at) => at + 1);
  const wagered = phase === "bet" ? [] : (round?.wagered ?? []);
  const dealtSeats = wagered.map((each) => each.seat);
  const slots = slotsOf(game, dealtSeats);
  const placed = phase === "deal" ? cards : phase === "bet" ? {} : cardsOf(round);
  const isWaiting = link.undecided > 0;

  // A new round starts at its first slot, so that the dealer can type at once.
  const dealing = phase === "deal" ? round!.number : 0;
  useEffect(() => {
    setCards({});
    setRefusal("");
    setReason(undefined);
    if (dealing) moveTo(slots[0] ?? "");
  }, [dealing]);

  // When the focused button disappears, focus the next controls, so that keyboard users can continue.
  useEffect(() => {
    requestAnimationFrame(() => document.activeElement === document.body && rail.current?.focus());
  }, [phase]);

  const moveTo = (slot: string) => {
    setCurrent(slot);
    requestAnimationFrame(() => felt.current?.querySelector<HTMLElement>(`[data-slot="${slot}"]`)?.focus());
  };

  // One action at a time; an error is shown next to the button that caused it.
  const send = async (what: string, body: object): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setRefusal("");
    try {
      onUpdate(await post<TableView>(`/demo/tables/${encodeURIComponent(shown.table)}/${what}`, body));
      return true;
    } catch (thrown) {
      const words = (thrown as ApiError).message;
      setRefusal(`${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.)]$/.test(words) ? "" : "."}`);
      return false;
    } finally {
      setBusy(false);
    }
  };

  const lock = () =>
    void send("round", {
      round: shown.next_round,
      wagers: bets.map((seat) => ({
        seat,
        ...(shown.require_player_card ? { player_card: `${shown.table}-${seat}` } : {}),
      })),
    });

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

  const type = (event: KeyboardEvent) => {
    if (phase !== "deal" || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof HTMLInputElement) return;
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

  const report = () => {
    const { result, missing } = resultOf(game, round!, cards);
    if (missing) return setRefusal(missing);
    void send("result", result!);
  };

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

  const toggle = (seat: number | typeof kAll) =>
    setBets(
      seat === kAll
        ? bets.length === seats.length
          ? []
          : seats
        : bets.includes(seat)
          ? bets.filter((each) => each !== seat)
          : [...bets, seat].sort((a, b) => a - b),
    );

  const voidButton = (
    <button type="button" onClick={() => setReason(reason === undefined ? "" : undefined)} aria-expanded={reason !== undefined}>
      Void the round…
    </button>
  );
  const claim = wagered.find((each) => each.claim);
  const warnings = warningsFor(shown, error);
  const canPick = phase === "deal" && !isWaiting;

  return (
    <div class="table" data-phase={phase}>
      <header>
        <div>
          <h1>
            {shown.table} <span class="demo">Demo</span>
          </h1>
          <p>
            {game.name}, round {phase === "bet" ? shown.next_round : round!.number}
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
      <main ref={felt} onKeyDown={type}>
        {warnings.map((each) => (
          <p key={each} class="trouble" role="status">
            {each}
          </p>
        ))}
        <section class="felt" aria-label="Felt">
          <ol class="seats" data-count={shown.seats}>
            {seats.map((seat) => {
              const wager = wagered.find((each) => each.seat === seat);
              const isBet = phase === "bet" ? bets.includes(seat) : wager !== undefined;
              // Along the rim: the middle seats are the farthest from the dealer.
              const off = (2 * (seat - 1)) / Math.max(shown.seats - 1, 1) - 1;
              return (
                <li key={seat} style={{ "--off": off * off }}>
                  <span class="number">Seat {seat}</span>
                  {phase === "bet" ? (
                    <button
                      type="button"
                      class="spot"
                      aria-pressed={isBet}
                      aria-label={`Seat ${seat}: jackpot wager of ${dollars(shown.wager_cents)}`}
                      onClick={() => toggle(seat)}
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
                            {...(canPick ? { onPick: () => setCurrent(slot) } : {})}
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
            })}
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
                    {...(canPick ? { onPick: () => setCurrent(slot) } : {})}
                  />
                );
              })}
            </div>
            <span class="arch" aria-hidden="true">
              {shown.game === "uth" ? "Two cards and the flop" : "Your two cards and the dealer’s first"}
            </span>
          </div>
        </section>

        <section class="rail" aria-label="Dealer" ref={rail} tabIndex={-1}>
          {phase === "bet" && (
            <div class="step">
              <h2>Place the jackpot wagers</h2>
              <button type="button" onClick={() => toggle(kAll)}>
                {bets.length === seats.length ? "No seat" : "All seats"}
              </button>
              <button type="button" class="primary" aria-disabled={busy} onClick={lock}>
                Lock {bets.length === 1 ? "1 wager" : `${bets.length} wagers`} and deal
              </button>
            </div>
          )}
          {phase === "deal" && isWaiting && (
            <p role="status">The result is kept in the table’s outbox. It is sent as soon as the link is back.</p>
          )}
          {canPick && (
            <>
              <div class="step">
                <h2>Enter the cards</h2>
                {voidButton}
                <button type="button" class="primary" aria-disabled={busy} onClick={report}>
                  Report the result
                </button>
              </div>
              <Picker game={game} cards={cards} into={slotName(current, game.boardSlots)} onPick={placeCard} />
              <div class="deals" role="group" aria-label="Deal something that wins">
                <span>Deal a win</span>
                {game.wins.map((win) => (
                  <button key={win.label} type="button" onClick={() => deal(win)}>
                    {win.label} <small>{win.pays}</small>
                  </button>
                ))}
                <button type="button" onClick={() => deal()}>
                  Shuffled cards
                </button>
              </div>
              <p class="hint">Tap a card, or type it: 7 then D. Backspace removes a card. A seat without cards did not qualify.</p>
            </>
          )}
          {phase === "press" && (
            <div class="jackpot">
              <h2>
                Seat {claim!.seat}: {tierName(claim!.tier ?? "")}
              </h2>
              <button type="button" class="button" aria-disabled={busy} onClick={press}>
                Jackpot
              </button>
              <p class="hint">
                {pressed?.round === round!.number
                  ? `Pressed at ${timeOfDay(pressed.at)}, not accepted yet. Press again to send it: the time of the first press counts.`
                  : "Press the button when you see the hand. The time of the press decides whether two tables tie."}
              </p>
              {voidButton}
            </div>
          )}
          {phase === "wait" && (
            <div class="jackpot" role="status">
              <h2>{pool.held ? "Held for Surveillance" : "Pending"}</h2>
              {pressed?.round === round!.number && <p class="moment">Pressed at {timeOfDay(pressed.at)}</p>}
              <p>
                {pool.held
                  ? "Another table pressed at the same time, or is offline. Nothing is paid until Surveillance rules at the console."
                  : "The press is accepted. The jackpot is settled when no other table can tie with it any more."}
              </p>
            </div>
          )}
          {(phase === "over" || phase === "wait") && (
            <div class="step">
              <h2>
                {phase === "wait"
                  ? "Play can continue"
                  : round!.voided
                    ? "The round is void"
                    : round!.wagered.some((each) => each.tier)
                      ? "Pay in this order"
                      : "No seat wins"}
              </h2>
              <button type="button" class="primary" onClick={nextRound}>
                Next round
              </button>
            </div>
          )}
          {reason !== undefined && (phase === "deal" || phase === "press") && (
            <form class="void" onSubmit={voidRound}>
              <label for="reason">Reason for the void</label>
              <input id="reason" value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
              <button class="danger" aria-disabled={busy}>
                Void round {round!.number}
              </button>
            </form>
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

const kClaims = { claimed: "claims the jackpot", pending: "pending", held: "held" };

const Chip = ({ cents }: { cents: number }) => (
  <span class="chip">
    {cents % 100 ? dollars(cents) : `$${cents / 100}`}
  </span>
);

function slotName(slot: string, boardSlots: string[]): string {
  const [where, at] = slot.split("-");
  if (where === "board") return boardSlots[Number(at)] ?? "";
  return where ? `seat ${where}, ${at === "1" ? "second" : "first"} card` : "choose a place";
}

// With milliseconds, because they decide a tie.
const timeOfDay = (at: Date) =>
  `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;

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
