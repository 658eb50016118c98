import { post } from "../lib/api";
import { amount } from "../lib/money";
import { ActionForm, Disclosure, Problem, reason } from "./act";
import { DataTable } from "./data_table";
import { useQuery, useLive } from "./live";
import { proposed } from "./pools";
import type { Award, Claim, Proposal, Session } from "./types";
import { Cards, State, Time, readableId } from "./format";

const kStates = ["", "held", "pending", "claimed", "settled", "paid", "withheld", "dropped"];

export const claimPath = (table: string, round: number) => `#/claims/${encodeURIComponent(table)}/${round}`;

export function Claims({ state }: { state: string }) {
  const version = useLive((live) => live.changes.claims);
  const { data, error } = useQuery<{ claims: Claim[] }>(`/claims${state ? `?state=${encodeURIComponent(state)}` : ""}`, version);
  return (
    <>
      <div class="pick" role="group" aria-label="State of the claims">
        {kStates.map((each) => (
          <a key={each} href={each ? `#/claims/${each}` : "#/claims"} {...(each === state ? { "aria-current": "true" as const } : {})}>
            {each ? readableId(each) : "All"}
          </a>
        ))}
      </div>
      <Problem error={error} />
      {data && data.claims.length === 0 && <p class="quiet">No jackpot {state ? `is ${state}` : "has been claimed"}.</p>}
      {data && data.claims.length > 0 && (
        <DataTable label="Claims" columns={["Table", "Round", "Seat", "Jackpot", "State", "Cards", "Pool", "Claimed"]}>
          {data.claims.map((each) => (
            <tr key={each.id}>
              <th scope="row">
                <a href={claimPath(each.table, each.round)}>
                  {each.table}
                  <span class="visually-hidden">, round {each.round}</span>
                </a>
              </th>
              <td>{each.round}</td>
              <td>{each.seat}</td>
              <td>{readableId(each.tier)}</td>
              <td>
                {each.state === "held" ? (
                  <a class="state warn" href={`#/rulings/${encodeURIComponent(each.pool)}`}>
                    Held for a ruling
                  </a>
                ) : (
                  <State state={each.state} />
                )}
              </td>
              <td>
                <Cards text={each.cards} />
              </td>
              <td>{each.pool}</td>
              <td>
                <Time utc={each.claimed_utc} />
              </td>
            </tr>
          ))}
        </DataTable>
      )}
    </>
  );
}

export function ClaimView({ session, table, round }: { session: Session; table: string; round: number }) {
  const version = useLive((live) => live.changes.claims);
  const path = `/claims/${encodeURIComponent(table)}/${round}`;
  const { data, error, reload } = useQuery<{ claims: Claim[]; awards: Award[] }>(path, version);
  return (
    <>
      <p>
        <a href="#/claims">All claims</a>
      </p>
      <Problem error={error} />
      {data?.claims.map((each) => (
        <section key={each.id} class="panel" aria-label={`Claim of seat ${each.seat}`}>
          <div class="head">
            <h2>
              Seat {each.seat}: {readableId(each.tier)}
            </h2>
            <State state={each.state} words={each.state === "held" ? "Held for a ruling" : readableId(each.state)} />
          </div>
          <dl class="facts">
            <div>
              <dt>Board</dt>
              <dd>
                <Cards text={each.board} />
              </dd>
            </div>
            <div>
              <dt>Cards</dt>
              <dd>
                <Cards text={each.cards} />
              </dd>
            </div>
            <div>
              <dt>Claimed</dt>
              <dd>
                <Time utc={each.claimed_utc} /> <a href={`#/journal/${each.claimed_record}`}>record {each.claimed_record}</a>
              </dd>
            </div>
            {each.pressed_utc && (
              <div>
                <dt>Button pressed</dt>
                <dd>
                  <Time utc={each.pressed_utc} />
                </dd>
              </div>
            )}
            <div>
              <dt>Pool</dt>
              <dd>{each.pool}</dd>
            </div>
          </dl>
          {each.state === "held" && (
            <p>
              <a href={`#/rulings/${encodeURIComponent(each.pool)}`}>Possible rulings, and what each pays</a>
            </p>
          )}
        </section>
      ))}
      {data && data.awards.length > 0 && <h2>Awards, in the order of payment</h2>}
      {data?.awards.map((each) => (
        <AwardPanel key={`${each.record}/${each.place}`} award={each} session={session} path={path} reload={reload} />
      ))}
    </>
  );
}

function AwardPanel({ award, session, path, reload }: { award: Award; session: Session; path: string; reload: () => void }) {
  const payment = award.payment;
  const different = payment && !/^-?0(\.0*)?$/.test(payment.difference);
  const which = { seat: award.seat, tier: award.tier };
  return (
    <section class="panel award" aria-label={`Award ${award.place}: seat ${award.seat}, ${readableId(award.tier)}`}>
      <div class="head">
        <h3>
          {award.place}. Seat {award.seat}: {readableId(award.tier)}
        </h3>
        <State state={award.state ?? "due"} />
        <strong class="sum">{amount(award.amount)}</strong>
      </div>
      <p class="arithmetic">
        {award.arithmetic} <span class="rule">{award.rule}</span>
      </p>
      {payment && (
        <p>
          Paid {amount(payment.paid)} ({payment.how}) by {payment.by}.{" "}
          {different && (
            <strong class="difference">
              {payment.difference.startsWith("-")
                ? `Underpaid by ${amount(payment.difference.slice(1))}`
                : `Overpaid by ${amount(payment.difference)}`}
            </strong>
          )}
        </p>
      )}
      {award.state_record !== undefined && (
        <p>
          See <a href={`#/journal/${award.state_record}`}>record {award.state_record}</a>.
        </p>
      )}
      {session.role === "supervisor" && award.state === "due" && (
        <div class="acts">
          <Disclosure label="Record the payment…">
            <ActionForm
              label="Record the payment"
              fields={[
                { name: "paid", label: "Paid", type: "amount", value: award.amount.replace(/(\.\d\d)\d*$/, "$1"), hint: `Due: ${amount(award.amount)}` },
                { name: "how", label: "How", hint: "Chips, or the number of a cheque" },
              ]}
              send={(values) => post<Proposal | object>(`${path}/payments`, { ...which, ...values })}
              message={(answer) => ("proposal" in answer ? proposed(answer) : "The payment is recorded.")}
              onDone={reload}
            />
          </Disclosure>
          <Disclosure label="Withhold the award…">
            <ActionForm
              label="Propose to withhold the award"
              danger
              fields={[reason]}
              send={(values) => post<Proposal>(`${path}/withhold`, { ...which, ...values })}
              message={proposed}
              onDone={reload}
            />
          </Disclosure>
        </div>
      )}
    </section>
  );
}
