import { useEffect, useState } from "preact/hooks";

import { post } from "../lib/api";
import { amount, dollars } from "../lib/money";
import { ActionForm, Disclosure, Problem, proposed, reason } from "./act";
import { Chart } from "./chart";
import { useQuery, useLive } from "./live";
import { SuspendOrResume } from "./suspend";
import type { Amount, OpenWin, Pool, Proposal, Session } from "./types";
import { State, Time, games, claimPath, heldForText, readableId } from "./format";

const kPeriods: [string, string, number][] = [
  ["hour", "1 hour", 3_600_000],
  ["day", "1 day", 86_400_000],
  ["week", "7 days", 7 * 86_400_000],
  ["month", "30 days", 30 * 86_400_000],
];
const kChartIntervalMs = 10_000;

export function Pools({ session }: { session: Session }) {
  const records = useLive((live) => live.changes.records);
  const { data, error, reload } = useQuery<{ pools: Pool[] }>("/pools", records);
  return (
    <>
      <Problem error={error} />
      <div class="pools">
        {data?.pools.map((pool) => <PoolCard key={pool.pool} pool={pool} session={session} reload={reload} />)}
      </div>
    </>
  );
}

function PoolCard({ pool, session, reload }: { pool: Pool; session: Session; reload: () => void }) {
  const reading = useLive((live) => live.readings[pool.pool]);
  const held = pool.wins.some((each) => each.state === "held");
  const locked = pool.wins.some((each) => each.state === "locked");
  const title = `pool-${pool.pool}`;
  return (
    <section class="pool" aria-labelledby={title}>
      <div class="head">
        <h2 id={title}>
          {pool.pool}{" "}
          <span class="game">
            {games[pool.game] ?? pool.game}, {pool.tables.length} table{pool.tables.length === 1 ? "" : "s"}
          </span>
        </h2>
        {pool.suspended ? <State state="suspended" /> : <State state="open" />}
        {reading?.fault && <State state="fault" words="Displays show a fault" />}
        {held ? (
          <a class="state warn" href={`#/rulings/${encodeURIComponent(pool.pool)}`}>
            Held for a ruling
          </a>
        ) : (
          locked && <State state="locked" words="Jackpot locked" />
        )}
      </div>
      <p class="jackpot">{reading ? dollars(reading.displayed_cents) : amount(pool.displayed)}</p>
      <dl class="facts">
        <div>
          <dt>Meter, exact</dt>
          <dd>{amount(pool.meter)}</dd>
        </div>
        <div>
          <dt>Reserve</dt>
          <dd>{amount(pool.reserve)}</dd>
        </div>
        <div>
          <dt>Wager</dt>
          <dd>{amount(pool.wager)}</dd>
        </div>
        <div>
          <dt>Minimum</dt>
          <dd>{amount(pool.parameters.minimum)}</dd>
        </div>
        {pool.last_win && (
          <div class="wide">
            <dt>Last win</dt>
            <dd>
              {amount(pool.last_win.amount)} at {pool.last_win.table}, {readableId(pool.last_win.tier)}, <Time utc={pool.last_win.utc} />
            </dd>
          </div>
        )}
        {pool.next_in_words && (
          <div class="wide">
            <dt>Agreed for the next reset</dt>
            <dd>{pool.next_in_words}</dd>
          </div>
        )}
      </dl>
      {pool.wins.length > 0 && <Wins wins={pool.wins} />}
      <History pool={pool.pool} />
      <div class="acts">
        <SuspendOrResume
          name={pool.pool}
          path={`/pools/${encodeURIComponent(pool.pool)}`}
          suspended={pool.suspended}
          session={session}
          reload={reload}
        />
        {(session.role === "supervisor" || session.role === "administrator") && <ProposalForms pool={pool} />}
      </div>
    </section>
  );
}

// The confirmed jackpots that can still change.
const Wins = ({ wins }: { wins: OpenWin[] }) => (
  <ul class="rows" aria-label="Open wins">
    {wins.map((each) => (
      <li key={`${each.table}/${each.round}`}>
        <span>
          <a href={claimPath(each.table, each.round)}>
            {each.table} round {each.round}
          </a>{" "}
          pressed <Time utc={each.pressed_utc} />
          {each.state === "held" && <span class="quiet line">{heldForText(each.held_for)}</span>}
        </span>
        <span>
          <State state={each.state} /> {each.due_utc && <span class="quiet">due <Time utc={each.due_utc} /></span>}
        </span>
      </li>
    ))}
  </ul>
);

function ProposalForms({ pool }: { pool: Pool }) {
  const path = `/pools/${encodeURIComponent(pool.pool)}`;
  const now = pool.parameters;
  // [name in the API, label, hint, present value]
  const parameters: [string, string, string, string | number | undefined][] = [
    ["increment", "Increment", "Part of each wager, such as 0.235", now.increment],
    ["reserve_increment", "Reserve increment", "Part of each wager", now.reserve_increment],
    ["minimum", "Minimum", "The pool is reset to this amount", now.minimum],
    ["payout_unit", "Payout unit", "Awards are rounded up to it", now.payout_unit],
    ...((pool.game === "uth"
      ? [
          ["guarantee.royal_flush", "Royal flush at least", "As on the table’s sign", now.guarantee?.royal_flush],
          ["guarantee.straight_flush", "Straight flush at least", "As on the table’s sign", now.guarantee?.straight_flush],
        ]
      : [
          ["simultaneity_window_ms", "Window in ms", "Buttons pressed within this time wait for a ruling", now.simultaneity_window_ms],
          ["settle_after_ms", "Due after ms", "A win that nothing holds is due after this time", now.settle_after_ms],
        ]) as [string, string, string, string | number | undefined][]),
  ];
  return (
    <>
      <Disclosure label="Adjust…">
        <ActionForm
          label="Propose the adjustment"
          fields={[{ name: "amount", label: "Amount", type: "amount", hint: "Added to the meter; use -12.50 to subtract" }, reason]}
          send={(values) => post<Proposal>(`${path}/adjustments`, values)}
          message={proposed}
        />
      </Disclosure>
      <Disclosure label="Change parameters…">
        <ActionForm
          label="Propose the change"
          fields={[
            ...parameters.map(([name, label, hint, value]) => ({
              name,
              label,
              hint: `${hint}. Now ${value ?? "not set"}`,
              optional: true,
            })),
            reason,
          ]}
          send={(values) => {
            const body: Record<string, unknown> = { reason: values.reason };
            for (const [name] of parameters) {
              const given = values[name];
              if (!given) continue;
              const [outer, inner] = name.split(".");
              if (inner) body[outer!] = { ...now.guarantee, ...(body[outer!] as object), [inner]: given };
              else body[name] = name.endsWith("_ms") ? Number(given) : given;
            }
            return post<Proposal>(`${path}/parameters`, body);
          }}
          message={proposed}
        />
      </Disclosure>
    </>
  );
}

function History({ pool }: { pool: string }) {
  const [period, setPeriod] = useState(1);
  const [until, setUntil] = useState(Date.now);
  const connections = useLive((live) => live.connections);
  useEffect(() => {
    const timer = setInterval(() => setUntil(Date.now()), kChartIntervalMs);
    return () => clearInterval(timer);
  }, []);
  const [id, , length] = kPeriods[period]!;
  const from = until - length;
  // The path changes once a minute only, so that new data replaces the chart without emptying it.
  const { data, error } = useQuery<{ amounts: Amount[] }>(
    `/pools/${encodeURIComponent(pool)}/history?points=100&from=${Math.floor(from / 60_000) * 60_000}`,
    until + connections,
  );
  return (
    <div class="history">
      <div class="pick" role="group" aria-label={`Period of the chart of ${pool}`}>
        {kPeriods.map(([each, words], place) => (
          <button key={each} type="button" aria-pressed={each === id} onClick={() => setPeriod(place)}>
            {words}
          </button>
        ))}
      </div>
      <Problem error={error} />
      {data && <Chart name={`What ${pool} displayed`} amounts={data.amounts} from={from} until={until} />}
    </div>
  );
}
