import { post } from "../lib/api";
import { amount } from "../lib/money";
import { ActionForm, Disclosure, Problem, reason } from "./act";
import { useQuery, useLive } from "./live";
import { SuspendOrResume } from "./suspend";
import type { Meter, Round, Session, Table } from "./types";
import { State, readableId } from "./format";

const roundWords = (round: Round | undefined) => {
  if (!round) return "No round yet";
  const phase = round.voided
    ? "void"
    : round.settled
      ? "settled"
      : round.confirmed
        ? "jackpot confirmed"
        : round.result_in
          ? "result in"
          : `${round.wagers.length} wager${round.wagers.length === 1 ? "" : "s"}`;
  return `Round ${round.round}, ${phase}`;
};

const ago = (ms: number) => (ms < 1000 ? "now" : ms < 60_000 ? `${Math.round(ms / 1000)} s ago` : `${Math.round(ms / 60_000)} min ago`);

function meterWords(meter: Meter): string {
  const seen = [
    meter.unit !== undefined &&
      (meter.last_read_ms_ago === undefined ? "never read" : `read ${ago(meter.last_read_ms_ago)}`),
    meter.driven_over !== undefined &&
      (meter.last_write_ms_ago === undefined ? "never written" : `written ${ago(meter.last_write_ms_ago)}`),
  ].filter(Boolean);
  return `${meter.meter}: ${seen.join(", ") || "not monitored"}`;
}

export function Floor({ session, open }: { session: Session; open: string | undefined }) {
  const records = useLive((live) => live.changes.records);
  const { data, error, reload } = useQuery<{ tables: Table[] }>("/tables", records);
  const meters = useQuery<{ meters: Meter[] }>("/meters", records).data?.meters ?? [];
  const tables = data?.tables ?? [];
  const shown = tables.find((each) => each.table === open);
  const pools = [...new Set(tables.map((each) => each.pool))];
  return (
    <>
      <Problem error={error} />
      {open && data && !shown && <p class="refusal">There is no table {open}.</p>}
      <div class={shown ? "floor with" : "floor"}>
        <div class="plan">
          {pools.map((pool) => (
            <section key={pool} aria-labelledby={`floor-${pool}`}>
              <h2 id={`floor-${pool}`}>{pool}</h2>
              <ul class="tables">
                {tables
                  .filter((each) => each.pool === pool)
                  .map((each) => (
                    <Tile key={each.table} table={each} meters={meters} current={each.table === open} />
                  ))}
              </ul>
            </section>
          ))}
        </div>
        {shown && <TablePanel key={shown.table} table={shown} meters={meters} session={session} reload={reload} />}
      </div>
    </>
  );
}

// Seats as the dealer sees them: seat 1 at the left of the arc.
function Seats({ table }: { table: Table }) {
  const wagers = table.round && !table.round.settled && !table.round.voided ? table.round.wagers : [];
  return (
    <svg class="felt" viewBox="0 0 160 84" aria-hidden="true">
      <path class="cloth" d="M4 6h152a76 72 0 0 1-152 0Z" />
      <path class="rail" d="M4 6a76 72 0 0 0 152 0" />
      {Array.from({ length: table.seats }, (_, place) => {
        const angle = Math.PI * (1 - (place + 0.7) / (table.seats + 0.4));
        return (
          <circle
            key={place}
            class={wagers.includes(place + 1) ? "seat wagered" : "seat"}
            cx={(80 + 62 * Math.cos(angle)).toFixed(1)}
            cy={(6 + 58 * Math.sin(angle)).toFixed(1)}
            r="6"
          />
        );
      })}
    </svg>
  );
}

function states(table: Table, meters: Meter[]) {
  const silent = meters.some((each) => each.tables.includes(table.table) && each.silent);
  return (
    <>
      {table.offline ? <State state="offline" /> : <State state="online" />}
      {table.suspended && <State state="suspended" />}
      {silent && <State state="silent" words="Meter not seen" />}
    </>
  );
}

function Tile({ table, meters, current }: { table: Table; meters: Meter[]; current: boolean }) {
  return (
    <li>
      <a
        class={`table ${table.offline || table.suspended ? "off" : ""}`}
        href={`#/floor/${encodeURIComponent(table.table)}`}
        {...(current ? { "aria-current": "true" as const } : {})}
      >
        <Seats table={table} />
        <strong>{table.table}</strong>
        <span class="states">{states(table, meters)}</span>
        <span class="round">{roundWords(table.round)}</span>
      </a>
    </li>
  );
}

function TablePanel({ table, meters, session, reload }: { table: Table; meters: Meter[]; session: Session; reload: () => void }) {
  const path = `/tables/${encodeURIComponent(table.table)}`;
  const mine = meters.filter((each) => each.tables.includes(table.table));
  const round = table.round;
  return (
    <section class="panel" aria-labelledby="table-title">
      <div class="head">
        <h2 id="table-title">{table.table}</h2>
        {states(table, meters)}
        <a class="close" href="#/floor">
          Close
        </a>
      </div>
      <dl class="facts">
        <div class="wide">
          <dt>Round</dt>
          <dd>{roundWords(round)}</dd>
        </div>
        {round && round.wagers.length > 0 && (
          <div class="wide">
            <dt>Wagers at seats</dt>
            <dd>{round.wagers.join(", ")}</dd>
          </div>
        )}
        <div class="wide">
          <dt>Meters</dt>
          <dd>{mine.length ? mine.map((each) => <span key={each.meter} class="line">{meterWords(each)}</span>) : "none"}</dd>
        </div>
      </dl>
      {table.due.length > 0 && (
        <>
          <h3>Awards</h3>
          <ul class="rows">
            {table.due.map((each) => (
              <li key={`${each.round}/${each.seat}/${each.tier}`}>
                <a href={`#/claims/${encodeURIComponent(table.table)}/${each.round}`}>
                  Round {each.round}, seat {each.seat}
                </a>{" "}
                {readableId(each.tier)} <strong>{amount(each.amount)}</strong> <State state={each.state} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <a href={`#/journal/${encodeURIComponent(`table=${table.table}`)}`}>Its records in the journal</a>
      </p>
      <div class="acts">
        <SuspendOrResume name={table.table} path={path} suspended={table.suspended} session={session} reload={reload} />
        {session.role === "supervisor" && round && !round.voided && !round.settled && (
          <Disclosure key={`void ${round.round}`} label={`Void round ${round.round}…`}>
            <ActionForm
              label={`Void round ${round.round}`}
              danger
              fields={[reason]}
              send={(values) => post(`${path}/rounds/${round.round}/void`, values)}
              onDone={reload}
            />
          </Disclosure>
        )}
      </div>
    </section>
  );
}
