import { post } from "../lib/api";
import { amount, isZero, minus } from "../lib/money";
import { ActionForm, Disclosure, Problem, doneOrProposed, proposed, reason } from "./act";
import { DataTable } from "./data_table";
import { useQuery, useLive } from "./live";
import { RoundActs, VoidWagerForm } from "./round_acts";
import type { Award, Claim, ClaimedRound, Payment, Pool, Proposal, Session, Table } from "./types";
import { Cards, State, Time, claimPath, heldForText, readableId } from "./format";

const kStates = ["", "held", "locked", "claimed", "due", "final", "dropped"];
const kUnpaid = "unpaid";

// The state of the claim until it is due, then that of its award.
function stateOf(claim: Claim): string {
  if (claim.state !== "due" && claim.state !== "final") return claim.state;
  if (claim.award_state === "withheld" || claim.award_state === "withdrawn") return claim.award_state;
  return claim.difference !== undefined ? "paid" : "due";
}

const ClaimState = ({ claim }: { claim: Claim }) =>
  claim.state === "held" ? (
    <a class="state warn" href={`#/rulings/${encodeURIComponent(claim.pool)}`}>
      Held for a ruling
    </a>
  ) : (
    <State state={stateOf(claim)} />
  );

const Difference = ({ difference }: { difference: string | undefined }) =>
  difference === undefined || isZero(difference) ? null : (
    <strong class="difference">
      {difference.startsWith("-") ? `Underpaid by ${amount(difference.slice(1))}` : `Overpaid by ${amount(difference)}`}
    </strong>
  );

export function Claims({ state }: { state: string }) {
  const version = useLive((live) => live.changes.claims);
  const filter = state === kUnpaid ? "?paid=false" : state ? `?state=${encodeURIComponent(state)}` : "";
  const { data, error } = useQuery<{ claims: Claim[] }>(`/claims${filter}`, version);
  return (
    <>
      <div class="pick" role="group" aria-label="State of the claims">
        {[...kStates, kUnpaid].map((each) => (
          <a key={each} href={each ? `#/claims/${each}` : "#/claims"} {...(each === state ? { "aria-current": "true" as const } : {})}>
            {each === kUnpaid ? "To be paid" : each ? readableId(each) : "All"}
          </a>
        ))}
      </div>
      <Problem error={error} />
      {data && data.claims.length === 0 && (
        <p class="quiet">No jackpot {state === kUnpaid ? "is to be paid" : state ? `is ${state}` : "has been claimed"}.</p>
      )}
      {data && data.claims.length > 0 && (
        <DataTable
          label="Claims"
          columns={["Table", "Round", "Seat", "Jackpot", "State", "Amount", "Cards", "Player", "Claimed"]}
          numbers={["Amount"]}
        >
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
                <ClaimState claim={each} />
              </td>
              <td class="number">
                {each.amount && amount(each.amount)} <Difference difference={each.difference} />
              </td>
              <td>
                <Cards text={each.cards} />
              </td>
              <td>{each.player}</td>
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
  const records = useLive((live) => live.changes.records);
  const path = `/claims/${encodeURIComponent(table)}/${round}`;
  const { data, error, reload } = useQuery<ClaimedRound>(path, version);
  const played = useQuery<Table>(`/tables/${encodeURIComponent(table)}`, records);
  const pools = useQuery<{ pools: Pool[] }>("/pools", 0).data?.pools;
  const game = pools?.find((each) => each.pool === played.data?.pool)?.game;
  const again = () => {
    reload();
    played.reload();
  };
  const now = [...(played.data?.round ? [played.data.round] : []), ...(played.data?.earlier ?? [])].find((each) => each.round === round);
  return (
    <>
      <p>
        <a href="#/claims">All claims</a>
      </p>
      <Problem error={error} />
      {data?.claims.map((each) => (
        <ClaimPanel key={each.id} claim={each} session={session} game={game} reload={again} />
      ))}
      {data && data.awards.length > 0 && <h2>Awards, in the order of payment</h2>}
      {data?.awards.map((each, at) => (
        <AwardPanel key={`${each.seat}/${each.tier}`} award={each} number={at + 1} session={session} path={path} reload={again} />
      ))}
      {data?.payments_without_award.map((each) => (
        <section key={each.seat} class="panel award" aria-label={`Payment to seat ${each.seat} without an award`}>
          <div class="head">
            <h3>Seat {each.seat}: paid without an award</h3>
            <Difference difference={each.difference} />
          </div>
          <Payments payments={each.payments} label={`Payments to seat ${each.seat} without an award`} />
        </section>
      ))}
      {data && data.refunds.length > 0 && (
        <section class="panel" aria-label="Returned wagers">
          <h2>Returned wagers</h2>
          <ul class="rows">
            {data.refunds.map((each) => (
              <li key={`${each.record}/${each.seat}`}>
                <span>
                  Seat {each.seat} <strong>{amount(each.amount)}</strong>
                </span>
                <span class="quiet">
                  <Time utc={each.utc} /> <a href={`#/journal/${each.record}`}>record {each.record}</a>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {session.role === "supervisor" && (
        <section class="panel" aria-label="Put the round right">
          <div class="head">
            <h2>Put the round right</h2>
            {now && <State state={now.voided ? "void" : now.open ? "open" : "closed"} words={now.voided ? "Void" : now.open ? "Round open" : "Round closed"} />}
          </div>
          <div class="acts">
            {now && game && <RoundActs session={session} table={table} game={game} round={now} reload={again} />}
            <Disclosure label="Payment without an award…">
              <PaymentForm path={path} tier="none" label="Record the payment without an award" reload={again} />
            </Disclosure>
          </div>
        </section>
      )}
    </>
  );
}

interface ClaimProps {
  claim: Claim;
  session: Session;
  game: string | undefined;
  reload: () => void;
}

function ClaimPanel({ claim, session, game, reload }: ClaimProps) {
  const isOpen = ["claimed", "locked", "held", "due"].includes(claim.state);
  return (
    <section class="panel" aria-label={`Claim of seat ${claim.seat}`}>
      <div class="head">
        <h2>
          Seat {claim.seat}: {readableId(claim.tier)}
        </h2>
        <ClaimState claim={claim} />
        {claim.state === "final" && <State state="final" />}
      </div>
      {claim.state === "held" && (
        <p>
          {heldForText(claim.held_for)} <a href={`#/rulings/${encodeURIComponent(claim.pool)}`}>Possible rulings, and what each pays</a>
        </p>
      )}
      {claim.state === "locked" && <p>The money has left the meter. It is not due yet: nobody pays it.</p>}
      <dl class="facts">
        <div>
          <dt>Board</dt>
          <dd>
            <Cards text={claim.board} />
          </dd>
        </div>
        <div>
          <dt>Cards</dt>
          <dd>
            <Cards text={claim.cards} />
          </dd>
        </div>
        <div>
          <dt>Player</dt>
          <dd>{claim.player ?? "without a card"}</dd>
        </div>
        <div>
          <dt>Claimed</dt>
          <dd>
            <Time utc={claim.claimed_utc} /> <a href={`#/journal/${claim.claimed_record}`}>record {claim.claimed_record}</a>
          </dd>
        </div>
        {claim.pressed_utc && (
          <div>
            <dt>Button pressed</dt>
            <dd>
              <Time utc={claim.pressed_utc} />
            </dd>
          </div>
        )}
        {claim.confirmed_utc && claim.confirmed_utc !== claim.pressed_utc && (
          <div>
            <dt>Press arrived</dt>
            <dd>
              <Time utc={claim.confirmed_utc} />
            </dd>
          </div>
        )}
        <div>
          <dt>Pool</dt>
          <dd>{claim.pool}</dd>
        </div>
      </dl>
      {session.role === "supervisor" && isOpen && game && (
        <div class="acts">
          <Disclosure label="The winner is invalid…">
            <VoidWagerForm table={claim.table} round={claim.round} seats={[claim.seat]} game={game} reload={reload} />
          </Disclosure>
        </div>
      )}
    </section>
  );
}

interface AwardProps {
  award: Award;
  number: number;
  session: Session;
  path: string;
  reload: () => void;
}

function AwardPanel({ award, number, session, path, reload }: AwardProps) {
  const which = { seat: award.seat, tier: award.tier };
  const isPaid = award.payments.length > 0;
  const isDue = award.state === "due";
  const isReleased = isDue && award.state_record !== undefined;
  return (
    <section class="panel award" aria-label={`Award ${number}: seat ${award.seat}, ${readableId(award.tier)}`}>
      <div class="head">
        <h3>
          {number}. Seat {award.seat}: {readableId(award.tier)}
        </h3>
        <State state={isDue && isPaid ? "paid" : award.state} />
        {isReleased && <State state="released" />}
        <Difference difference={award.difference} />
        <strong class="sum">{amount(award.amount)}</strong>
      </div>
      <p class="arithmetic">
        {award.arithmetic} <span class="rule">{award.rule}</span>
      </p>
      <p>
        {award.player ? `Player ${award.player}. ` : ""}
        {award.state === "locked" && "Locked: the money has left the meter, and nobody pays it yet. "}
        {award.state === "withdrawn" && "Withdrawn: nothing is due. "}
        See <a href={`#/journal/${award.record}`}>record {award.record}</a>.
      </p>
      {award.state_record !== undefined && (
        <p>
          {isReleased ? "Released" : "Withheld"} by {award.state_by?.join(", ")}
          {award.state_reason && `: ${award.state_reason}`} (<a href={`#/journal/${award.state_record}`}>record {award.state_record}</a>).
        </p>
      )}
      {award.earlier.length > 0 && (
        <ul class="rows" aria-label="Amounts that were withdrawn">
          {award.earlier.map((each) => (
            <li key={each.record}>
              <span>
                <State state="withdrawn" /> <s>{amount(each.amount)}</s>
              </span>
              <span class="quiet">
                <Time utc={each.withdrawn_utc} /> <a href={`#/journal/${each.withdrawn_record}`}>record {each.withdrawn_record}</a>
              </span>
            </li>
          ))}
        </ul>
      )}
      {isPaid && <Payments payments={award.payments} label={`Payments of award ${number}`} />}
      {session.role === "supervisor" && (
        <div class="acts">
          {(isDue || award.state === "withdrawn") && (
            <Disclosure label={isPaid ? "Record a rectification…" : "Record the payment…"}>
              <PaymentForm
                path={path}
                tier={award.tier}
                seat={award.seat}
                value={minus(award.due, award.paid)}
                hint={`Due: ${amount(award.due)}${isPaid ? `, paid so far: ${amount(award.paid)}` : ""}. Write -12.50 for money that came back`}
                label={isPaid ? "Record the rectification" : "Record the payment"}
                reload={reload}
              />
            </Disclosure>
          )}
          {isDue && !isPaid && (
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
          )}
          {award.state === "withheld" && (
            <Disclosure label="Release the award…">
              <ActionForm
                label="Propose to release the award"
                fields={[reason]}
                send={(values) => post<Proposal>(`${path}/release`, { ...which, ...values })}
                message={proposed}
                onDone={reload}
              />
            </Disclosure>
          )}
        </div>
      )}
    </section>
  );
}

interface PaymentProps {
  path: string;
  tier: string;
  seat?: number;
  value?: string;
  hint?: string;
  label: string;
  reload: () => void;
}

function PaymentForm({ path, tier, seat, value, hint, label, reload }: PaymentProps) {
  return (
    <ActionForm
      label={label}
      fields={[
        ...(seat === undefined ? [{ name: "seat", label: "Seat", type: "number" as const }] : []),
        { name: "paid", label: "Paid", type: "amount", value: value ?? "", hint: hint ?? "Write -12.50 for money that came back" },
        { name: "how", label: "How", hint: "Chips, or the number of a cheque" },
      ]}
      send={({ seat: given, ...values }) => post<Proposal | object>(`${path}/payments`, { seat: seat ?? Number(given), tier, ...values })}
      message={doneOrProposed}
      onDone={reload}
    />
  );
}

const Payments = ({ payments, label }: { payments: Payment[]; label: string }) => (
  <DataTable label={label} columns={["Time", "Paid", "Sum", "Due", "Difference", "How", "By", "Record"]} numbers={["Paid", "Sum", "Due"]}>
    {payments.map((each) => (
      <tr key={each.record}>
        <td>
          <Time utc={each.utc} />
        </td>
        <td class="number">{amount(each.paid)}</td>
        <td class="number">{amount(each.sum)}</td>
        <td class="number">{amount(each.due)}</td>
        <td>{isZero(each.difference) ? "none" : <Difference difference={each.difference} />}</td>
        <td>
          {each.rectification && "Rectification: "}
          {each.how}
        </td>
        <td>{each.by.join(", ")}</td>
        <td>
          <a href={`#/journal/${each.record}`}>{each.record}</a>
        </td>
      </tr>
    ))}
  </DataTable>
);
