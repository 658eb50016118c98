import { useState } from "preact/hooks";

import { Refused, post } from "../lib/api";
import { amount } from "../lib/money";
import { Act, Problem, reason } from "./act";
import { claimPath } from "./claims";
import { useAsked, useLive } from "./live";
import type { Preview, Rulings, Session } from "./types";
import { named } from "./words";

// What each ruling pays is by the rules themselves, on a copy of the present state. Which one is chosen is remembered by
// its order: after an outdated preview the same ruling may pay something else, and is to be chosen again.
export function RulingView({ session, pool }: { session: Session; pool: string }) {
  const version = useLive((live) => live.changes.claims);
  const path = `/pools/${encodeURIComponent(pool)}/rulings`;
  const { data, refused, again } = useAsked<Rulings>(path, version);
  const [chosen, setChosen] = useState<Preview | undefined>();
  const [ruled, setRuled] = useState("");
  const may = session.role === "surveillance";
  return (
    <>
      <p>
        <a href="#/claims/held">All held claims</a>
      </p>
      <Problem refused={refused} />
      <p class="news" role="status">
        {ruled}
      </p>
      {data && data.held.length === 0 && !ruled && <p class="quiet">Nothing of pool {pool} is held.</p>}
      {data && data.held.length > 0 && (
        <>
          <p>
            Held:{" "}
            {data.held.map((each, place) => (
              <span key={`${each.table}/${each.round}`}>
                {place > 0 && ", "}
                <a href={claimPath(each.table, each.round)}>
                  {each.table} round {each.round}
                </a>
              </span>
            ))}
            . {may ? "Choose what the cameras show." : "Surveillance rules on it."}
            {!data.all_rulings && " There are more orders than are shown here; jackpotctl rule --order takes any."}
          </p>
          <fieldset class="rulings">
            <legend class="hidden">The rulings there can be</legend>
            {data.previews.map((each, place) => (
              <Choice
                key={each.words}
                preview={each}
                number={place + 1}
                may={may}
                chosen={chosen?.token === each.token && chosen.words === each.words}
                choose={() => setChosen(each)}
              />
            ))}
          </fieldset>
          {may && (
            <Act
              label="Give this ruling"
              fields={[reason]}
              send={(values) => {
                if (!chosen) throw new Refused(400, "none_chosen", "choose a ruling first");
                // Whatever no longer fits, the way out is the same.
                return post(path, { order: chosen.order, token: chosen.token, ...values }).catch((why: Refused) => {
                  throw why.status === 409 ? new Refused(409, "preview_outdated", why.message) : why;
                });
              }}
              done={() => {
                setRuled(`Ruled: ${chosen!.words}. The awards are with their claims.`);
                setChosen(undefined);
                again();
              }}
              refused={(why) => {
                if (why.code !== "preview_outdated") return;
                setChosen(undefined);
                again();
              }}
            />
          )}
        </>
      )}
    </>
  );
}

function Choice(props: { preview: Preview; number: number; may: boolean; chosen: boolean; choose: () => void }) {
  const { preview, number, may, chosen, choose } = props;
  const words = preview.words.charAt(0).toUpperCase() + preview.words.slice(1);
  return (
    <div class={chosen ? "ruling chosen" : "ruling"}>
      {may ? (
        <label class="head">
          <input type="radio" name="ruling" checked={chosen} onChange={choose} />
          <span>{words}</span>
        </label>
      ) : (
        <h2 class="head">{words}</h2>
      )}
      <ol class="rows" aria-label={`What ruling ${number} pays`}>
        {preview.awards.map((each) => (
          <li key={each.place}>
            <span>
              {each.table} round {each.round}, seat {each.seat} <span class="quiet">{named(each.tier)}</span>
            </span>
            <strong class="sum">{amount(each.amount)}</strong>
            <span class="arithmetic">
              {each.arithmetic} <span class="rule">{each.rule}</span>
            </span>
          </li>
        ))}
      </ol>
      <p class="after">
        Then the meter is {amount(preview.meter_after)}, displayed {amount(preview.displayed_after)}, the reserve{" "}
        {amount(preview.reserve_after)}.
      </p>
    </div>
  );
}
