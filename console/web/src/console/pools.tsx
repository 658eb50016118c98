import { useEffect, useState } from "preact/hooks";

import { post } from "../lib/api";
import { amount, dollars } from "../lib/money";
import { Act, Maybe, Problem, reason } from "./act";
import { Chart } from "./chart";
import { useAsked, useLive } from "./live";
import type { Amount, Pool, Proposal, Session } from "./types";
import { State, Time, games, named } from "./words";

const kPeriods: [string, string, number][] = [
  ["hour", "1 hour", 3_600_000],
  ["day", "1 day", 86_400_000],
  ["week", "7 days", 7 * 86_400_000],
  ["month", "30 days", 30 * 86_400_000],
];
const kChartEveryMs = 10_000;

export const maySuspend = (session: Session) => ["supervisor", "surveillance", "inspector"].includes(session.role);
export const proposed = (answer: Proposal) => `Proposal ${answer.proposal} waits for a second person.`;

export function Pools({ session }: { session: Session }) {
  const records = useLive((live) => live.changes.records);
  const { data, refused, again } = useAsked<{ pools: Pool[] }>("/pools", records);
  return (
    <>
      <Problem refused={refused} />
      <div class="pools">
        {data?.pools.map((pool) => <PoolCard key={pool.pool} pool={pool} session={session} again={again} />)}
      </div>
    </>
  );
}

function PoolCard({ pool, session, again }: { pool: Pool; session: Session; again: () => void }) {
  const shown = useLive((live) => live.shown[pool.pool]);
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
        {shown?.fault && <State state="fault" words="Displays show a fault" />}
        {held ? (
          <a class="state warn" href={`#/rulings/${encodeURIComponent(pool.pool)}`}>
            Held for a ruling
          </a>
        ) : (
          pool.confirmations.length > 0 && <State state="pending" words="Jackpot pending" />
        )}
      </div>
      <p class="jackpot">{shown ? dollars(shown.displayed_cents) : amount(pool.displayed)}</p>
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
            <dt>Won last</dt>
            <dd>
              {amount(pool.last_win.amount)} at {pool.last_win.table}, {named(pool.last_win.tier)}, <Time utc={pool.last_win.utc} />
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
        {maySuspend(session) &&
          (pool.suspended ? (
            <Maybe key="resume" label={`Resume ${pool.pool}…`}>
              <Act
                label={`Resume ${pool.pool}`}
                fields={[reason]}
                send={(values) => post(`/pools/${encodeURIComponent(pool.pool)}/resume`, values)}
                done={again}
              />
            </Maybe>
          ) : (
            <Maybe key="suspend" label={`Suspend ${pool.pool}…`}>
              <Act
                label={`Suspend ${pool.pool}`}
                danger
                fields={[reason]}
                send={(values) => post(`/pools/${encodeURIComponent(pool.pool)}/suspend`, values)}
                done={again}
              />
            </Maybe>
          ))}
        {(session.role === "supervisor" || session.role === "administrator") && <Proposing pool={pool} />}
      </div>
    </section>
  );
}

function Proposing({ pool }: { pool: Pool }) {
  const path = `/pools/${encodeURIComponent(pool.pool)}`;
  const now = pool.parameters;
  const names: [keyof typeof now, string, string][] = [
    ["increment", "Increment", "Of each wager, as 0.235"],
    ["reserve_increment", "Reserve increment", "Of each wager"],
    ["minimum", "Minimum", "What the pool is reset to"],
    ["payout_unit", "Payout unit", "Awards are rounded up to it"],
    ["simultaneity_window_ms", "Window in ms", "Buttons within it are a tie"],
  ];
  return (
    <>
      <Maybe label="Adjust…">
        <Act
          label="Propose it"
          fields={[{ name: "amount", label: "Amount", type: "amount", hint: "Added to the meter; −12.50 as -12.50" }, reason]}
          send={(values) => post<Proposal>(`${path}/adjustments`, values)}
          said={proposed}
        />
      </Maybe>
      <Maybe label="Change parameters…">
        <Act
          label="Propose them"
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
          said={proposed}
        />
      </Maybe>
    </>
  );
}

function History({ pool }: { pool: string }) {
  const [period, setPeriod] = useState(1);
  const [until, setUntil] = useState(Date.now);
  const connections = useLive((live) => live.connections);
  useEffect(() => {
    const timer = setInterval(() => setUntil(Date.now()), kChartEveryMs);
    return () => clearInterval(timer);
  }, []);
  const [id, , length] = kPeriods[period]!;
  const from = until - length;
  // The path stays the same while the chart moves on, so that it is drawn over what is there.
  const { data, refused } = useAsked<{ amounts: Amount[] }>(
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
      <Problem refused={refused} />
      {data && <Chart name={`What ${pool} displayed`} amounts={data.amounts} from={from} until={until} />}
    </div>
  );
}
