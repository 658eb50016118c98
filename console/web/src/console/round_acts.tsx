// What a supervisor can put right in a round: its result, the round, a wager, a payment. The controller decides whether it
// takes a second person; then the answer is a proposal.
import { useState } from "preact/hooks";

import { ApiError, post } from "../lib/api";
import { ActionForm, Disclosure, type Field, Problem, doneOrProposed, reason, remark } from "./act";
import { groundField, kVoidRoundGrounds, kVoidWagerGrounds, withoutEmpty } from "./grounds";
import { useQuery } from "./live";
import type { Proposal, Round, Session } from "./types";

const pathOf = (table: string, round: number) => `/tables/${encodeURIComponent(table)}/rounds/${round}`;

interface Props {
  session: Session;
  table: string;
  game: string;
  round: Round;
  reload: () => void;
}

export function RoundActs({ session, table, game, round, reload }: Props) {
  if (session.role !== "supervisor") return null;
  const path = pathOf(table, round.round);
  const isOpenWin = round.confirmed && !round.final;
  const mayVoid = !round.voided && (round.open || isOpenWin);
  const seats = round.wagers.map((each) => each.seat);
  return (
    <>
      {round.open && round.result_in && (
        <Disclosure key={`correct ${round.round}`} label={`Correct round ${round.round}…`}>
          <CorrectionForm table={table} round={round} game={game} reload={reload} />
        </Disclosure>
      )}
      {mayVoid && seats.length > 0 && (
        <Disclosure key={`wager ${round.round}`} label="Void a wager…">
          <VoidWagerForm table={table} round={round.round} seats={seats} game={game} reload={reload} />
        </Disclosure>
      )}
      {mayVoid && (
        <Disclosure key={`void ${round.round}`} label={`Void round ${round.round}…`}>
          <VoidRoundForm path={path} round={round} game={game} reload={reload} />
        </Disclosure>
      )}
      {round.open && round.result_in && (
        <Disclosure key={`close ${round.round}`} label={`Close round ${round.round}…`}>
          <ActionForm
            label={`Close round ${round.round}`}
            fields={[reason]}
            send={(values) => post(`${path}/close`, values)}
            onDone={reload}
          >
            <p>For a table that cannot close it itself. Its result cannot be corrected afterwards.</p>
          </ActionForm>
        </Disclosure>
      )}
    </>
  );
}

function VoidRoundForm({ path, round, game, reload }: { path: string; round: Round; game: string; reload: () => void }) {
  const grounds = round.open ? kVoidRoundGrounds : kVoidRoundGrounds.filter((each) => each.id === "invalidated");
  const [ground, setGround] = useState(grounds[0]!.id);
  const forfeited: Field = {
    name: "forfeited",
    label: "Forfeited seats",
    optional: true,
    hint: "Their wagers are not returned; separate them by commas",
  };
  return (
    <ActionForm
      label={`Void round ${round.round}`}
      danger
      fields={[groundField(grounds, game, ground, setGround), ...(ground === "invalidated" ? [forfeited] : []), remark]}
      send={({ forfeited: given, ...values }) =>
        post<Proposal | object>(`${path}/void`, { ...withoutEmpty(values), ...(given ? { forfeited: seatsIn(given) } : {}) })
      }
      message={doneOrProposed}
      onDone={reload}
    />
  );
}

function seatsIn(text: string): number[] {
  const seats = text.split(/[\s,]+/).filter(Boolean).map(Number);
  if (!seats.every((each) => Number.isInteger(each))) throw new ApiError(400, "bad_seats", "forfeited seats are numbers, such as 3, 5");
  return seats;
}

interface VoidWagerProps {
  table: string;
  round: number;
  seats: number[];
  game: string;
  reload: () => void;
}

export function VoidWagerForm({ table, round, seats, game, reload }: VoidWagerProps) {
  const [ground, setGround] = useState(kVoidWagerGrounds[0]!.id);
  const seat: Field = { name: "seat", label: "Seat", type: "select", options: seats.map((each) => [String(each), `Seat ${each}`]) };
  return (
    <ActionForm
      label={seats.length === 1 ? `Void the wager of seat ${seats[0]}` : "Void the wager"}
      danger
      fields={[...(seats.length > 1 ? [seat] : []), groundField(kVoidWagerGrounds, game, ground, setGround), remark]}
      send={({ seat: chosen = String(seats[0]), ...values }) =>
        post<Proposal | object>(`${pathOf(table, round)}/wagers/${chosen}/void`, withoutEmpty(values))
      }
      message={doneOrProposed}
      onDone={reload}
    />
  );
}

// ---- corrections

interface Result {
  board: string[];
  hands: { seat: number; cards: string[] }[];
}

// The command of the newest record that reported or corrected the result.
function usePresentResult(table: string, round: number) {
  const search = `/records?table=${encodeURIComponent(table)}&round=${round}&limit=100`;
  const found = useQuery<{ records: { record: number; kind: string; refused: boolean }[] }>(search, 0);
  const newest = found.data?.records.find(
    (each) => !each.refused && (each.kind === "round_result" || each.kind === "result_corrected"),
  );
  const record = useQuery<{ payload: string }>(newest && `/records/${newest.record}`, 0);
  const result = record.data && (JSON.parse(record.data.payload).command as Result);
  return { result, error: found.error ?? record.error };
}

// "7h 10d" as ["7H", "TD"]
const cardsIn = (text: string) =>
  text
    .toUpperCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((card) => card.replace(/^10/, "T"));

function CorrectionForm({ table, round, game, reload }: { table: string; round: Round; game: string; reload: () => void }) {
  const { result, error } = usePresentResult(table, round.round);
  if (!result) return <Problem error={error} />;
  const board = game === "uth" ? "Flop" : "Dealer’s first card";
  const handOf = (seat: number) => result.hands.find((each) => each.seat === seat)?.cards.join(" ") ?? "";
  const fields: Field[] = [
    { name: "board", label: board, value: result.board.join(" "), hint: game === "uth" ? "Three cards, such as AS KS QS" : "Such as 7D" },
    ...round.wagers.map(({ seat }) => ({
      name: `seat-${seat}`,
      label: `Seat ${seat}`,
      value: handOf(seat),
      optional: true,
      hint: "Two cards; empty if the seat did not qualify",
    })),
    reason,
  ];
  return (
    <ActionForm
      label={`Correct round ${round.round}`}
      fields={fields}
      send={(values) =>
        post<Proposal | object>(`${pathOf(table, round.round)}/correct`, {
          board: cardsIn(values.board!),
          hands: round.wagers
            .map(({ seat }) => ({ seat, cards: cardsIn(values[`seat-${seat}`] ?? "") }))
            .filter(({ cards }) => cards.length > 0),
          reason: values.reason,
        })
      }
      message={doneOrProposed}
      onDone={reload}
    >
      <p>
        Enter the whole result again.{round.confirmed && " The press of the button stands."}
      </p>
    </ActionForm>
  );
}
