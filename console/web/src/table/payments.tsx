// The payments in their order, with rule and arithmetic; then the wagers to return.
import { dollars } from "../lib/money";
import { tierName, type TableView } from "./game";

const kShownRounds = 3;

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
                <li key={at} class={award.withdrawn ? "withdrawn" : undefined}>
                  <span class="place" aria-hidden="true">
                    {at + 1}
                  </span>
                  <span class="what">
                    <strong>Seat {award.seat}</strong> {tierName(award.tier)}
                    {award.withdrawn && " (withdrawn)"}
                    {(award.rule || award.arithmetic) && (
                      <small>
                        {award.rule}
                        {award.rule && award.arithmetic && ": "}
                        {award.arithmetic}
                      </small>
                    )}
                  </span>
                  <span class="cents">{dollars(award.cents)}</span>
                </li>
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
