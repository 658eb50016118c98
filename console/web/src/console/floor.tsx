import { amount } from "../lib/money";
import { Problem } from "./act";
import { useQuery, useLive } from "./live";
import { RoundActs } from "./round_acts";
import { SuspendOrResume } from "./suspend";
import type { Meter, Pool, Round, Session, Suspension, Table } from "./types";
import { State, claimPath, readableId } from "./format";

const roundWords = (round: Round | undefined) => {
  if (!round) return "No round yet";
  const phase = round.voided
    ? "void"
    : round.closed
      ? "closed"
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
  const configured = useQuery<{ pools: Pool[] }>("/pools", 0).data?.pools;
  const game = configured?.find((each) => each.pool === shown?.pool)?.game;
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
        {shown && <TablePanel key={shown.table} table={shown} meters={meters} game={game} session={session} reload={reload} />}
      </div>
    </>
  );
}

// Seats as the dealer sees them: seat 1 at the left of the arc.
function Seats({ table }: { table: Table }) {
  const wagers = table.round?.open ? table.round.wagers.map((each) => each.seat) : [];
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

const SuspensionState = ({ ground }: { ground: string | undefined }) =>
  ground === "closed" ? <State state="closed" words="Closed" /> : ground === "tournament" ? <State state="tournament" /> : <State state="suspended" />;

function states(table: Table, meters: Meter[]) {
  const silent = meters.some((each) => each.tables.includes(table.table) && each.silent);
  return (
    <>
      {table.offline ? <State state="offline" /> : <State state="online" />}
      {table.suspended && <SuspensionState ground={table.suspension?.ground} />}
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

interface PanelProps {
  table: Table;
  meters: Meter[];
  game: string | undefined;
  session: Session;
  reload: () => void;
}

function TablePanel({ table, meters, game, session, reload }: PanelProps) {
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
      {table.suspension && <SuspensionText suspension={table.suspension} />}
      <dl class="facts">
        <div class="wide">
          <dt>Round</dt>
          <dd>{roundWords(round)}</dd>
        </div>
        {round && round.wagers.length > 0 && (
          <div class="wide">
            <dt>Wagers at seats</dt>
            <dd>
              {round.wagers.map((each) => (
                <span key={each.seat} class="line">
                  {each.seat}
                  {each.player && `: player ${each.player}`}
                </span>
              ))}
            </dd>
          </div>
        )}
        <div class="wide">
          <dt>Meters</dt>
          <dd>{mine.length ? mine.map((each) => <span key={each.meter} class="line">{meterWords(each)}</span>) : "none"}</dd>
        </div>
      </dl>
      {table.awards.length > 0 && (
        <>
          <h3>Awards</h3>
          <ul class="rows">
            {table.awards.map((each) => (
              <li key={`${each.round}/${each.seat}/${each.tier}`}>
                <a href={claimPath(table.table, each.round)}>
                  Round {each.round}, seat {each.seat}
                </a>{" "}
                {readableId(each.tier)} <strong>{amount(each.amount)}</strong>{" "}
                <State state={each.state === "due" && each.payments > 0 ? "paid" : each.state} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <a href={`#/journal/${encodeURIComponent(`table=${table.table}`)}`}>Its records in the journal</a>
      </p>
      <div class="acts">
        {game && (
          <SuspendOrResume name={table.table} path={path} suspended={table.suspended} game={game} session={session} reload={reload} />
        )}
        {round && game && <RoundActs session={session} table={table.table} game={game} round={round} reload={reload} />}
      </div>
    </section>
  );
}

const SuspensionText = ({ suspension }: { suspension: Suspension }) => (
  <p>
    {suspension.ground ? readableId(suspension.ground) : "Suspended"}
    {suspension.by.length > 0 && `, by ${suspension.by.join(", ")}`}
    {suspension.reason && `: ${suspension.reason}`} (<a href={`#/journal/${suspension.record}`}>record {suspension.record}</a>).{" "}
    {suspension.from === "desk" ? "Only the desk can end it." : ""}
  </p>
);
