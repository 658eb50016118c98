// The awards of the last rounds in the order of payment, each with what to do about it; then the wagers to return.
import { dollars } from "../lib/money";
import { tierName, type Award, type TableView } from "./game";

const kShownRounds = 3;

// [state in words, what to do]
function stateOf(award: Award, shown: TableView): [string, string] {
  const isHeld = shown.claims.some((each) => each.round === award.round && each.state === "held");
  switch (award.state) {
    case "due":
      return ["Due", "Pay. A supervisor records the payment at the desk."];
    case "paid":
      return ["Paid", "The payment is recorded at the desk."];
    case "locked":
      return isHeld
        ? ["Held", "Pay nothing: call Surveillance. The ruling may change the amount."]
        : ["Being confirmed", "Pay nothing yet: wait until it is due."];
    case "withheld":
      return ["Withheld", "Do not pay: call a supervisor."];
    case "withdrawn":
      return ["Withdrawn", "Do not pay. If it was paid, call a supervisor."];
  }
}

export function Payments({ shown }: { shown: TableView }) {
  const rounds = [...new Set([...shown.awards, ...shown.refunds].map((each) => each.round))]
    .sort((a, b) => b - a)
    .slice(0, kShownRounds);
  return (
    <section class="payments" aria-label="Payments">
      <h2>Payments</h2>
      {rounds.length === 0 && <p class="hint">No payments.</p>}
      {rounds.map((round) => (
        <div key={round}>
          <h3>Round {round}</h3>
          <ol aria-live="polite">
            {shown.awards
              .filter((award) => award.round === round)
              .map((award, at) => (
                <Row key={at} place={at + 1} award={award} shown={shown} />
              ))}
          </ol>
          {shown.refunds
            .filter((refund) => refund.round === round)
            .map((refund) => (
              <p key={refund.seat} class="refund">
                Return the wager of seat {refund.seat}: {dollars(refund.cents)}
              </p>
            ))}
        </div>
      ))}
    </section>
  );
}

function Row({ place, award, shown }: { place: number; award: Award; shown: TableView }) {
  const [state, next] = stateOf(award, shown);
  return (
    <li class={award.state}>
      <span class="place" aria-hidden="true">
        {place}
      </span>
      <span class="what">
        <strong>Seat {award.seat}</strong> {tierName(award.tier)}
        <small>
          {award.player && `Player ${award.player}. `}
          {award.rule}
          {award.rule && award.arithmetic && ": "}
          {award.arithmetic}
        </small>
        <small class="next">
          <b>{state}</b> {next}
        </small>
      </span>
      <span class="cents">{dollars(award.cents)}</span>
    </li>
  );
}
