import { useEffect, useState } from "preact/hooks";

import { post } from "../lib/api";
import { amount, dollars } from "../lib/money";
import { ActionForm, Disclosure, Problem, reason } from "./act";
import { Chart } from "./chart";
import { useQuery, useLive } from "./live";
import { SuspendOrResume } from "./suspend";
import type { Amount, Pool, Proposal, Session } from "./types";
import { State, Time, games, readableId } from "./format";

const kPeriods: [string, string, number][] = [
  ["hour", "1 hour", 3_600_000],
  ["day", "1 day", 86_400_000],
  ["week", "7 days", 7 * 86_400_000],
  ["month", "30 days", 30 * 86_400_000],
];
const kChartIntervalMs = 10_000;

export const proposed = (answer: Proposal) => `Proposal ${answer.proposal} waits for a second person.`;

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
  const held = pool.confirmations.some((each) => each.state === "held");
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
          pool.confirmations.length > 0 && <State state="pending" words="Jackpot pending" />
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

function ProposalForms({ pool }: { pool: Pool }) {
  const path = `/pools/${encodeURIComponent(pool.pool)}`;
  const now = pool.parameters;
  const names: [keyof typeof now, string, string][] = [
    ["increment", "Increment", "Part of each wager, such as 0.235"],
    ["reserve_increment", "Reserve increment", "Part of each wager"],
    ["minimum", "Minimum", "The pool is reset to this amount"],
    ["payout_unit", "Payout unit", "Awards are rounded up to it"],
    ["simultaneity_window_ms", "Window in ms", "Buttons pressed within this time are a tie"],
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
            ...names.map(([name, label, hint]) => ({ name, label, hint: `${hint}. Now ${now[name]}`, optional: true })),
            reason,
          ]}
          send={(values) => {
            const body: Record<string, unknown> = { reason: values.reason };
            for (const [name] of names)
              if (values[name]) body[name] = name === "simultaneity_window_ms" ? Number(values[name]) : values[name];
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
