import { useState } from "preact/hooks";

import { ApiError, post } from "../lib/api";
import { amount } from "../lib/money";
import { ActionForm, Problem, reason } from "./act";
import { claimPath } from "./claims";
import { useQuery, useLive } from "./live";
import type { Preview, Rulings, Session } from "./types";
import { readableId } from "./format";

// Lists the possible rulings with what each pays, as the rules compute it on a copy of the state. If a preview is
// outdated, the same ruling may pay another amount, so the person must choose again.
export function RulingView({ session, pool }: { session: Session; pool: string }) {
  const version = useLive((live) => live.changes.claims);
  const path = `/pools/${encodeURIComponent(pool)}/rulings`;
  const { data, error, reload } = useQuery<Rulings>(path, version);
  const [chosen, setChosen] = useState<Preview | undefined>();
  const [ruled, setRuled] = useState("");
  const may = session.role === "surveillance";
  return (
    <>
      <p>
        <a href="#/claims/held">All held claims</a>
      </p>
      <Problem error={error} />
      <p class="news" role="status">
        {ruled}
      </p>
      {data && data.held.length === 0 && !ruled && <p class="quiet">No claim of pool {pool} is held.</p>}
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
            . {may ? "Choose the ruling that matches the camera recording." : "Surveillance will rule on it."}
            {!data.all_rulings && " More orders are possible than are shown here; use jackpotctl rule --order for them."}
          </p>
          <fieldset class="rulings">
            <legend class="visually-hidden">Possible rulings</legend>
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
            <ActionForm
              label="Give this ruling"
              fields={[reason]}
              send={(values) => {
                if (!chosen) throw new ApiError(400, "none_chosen", "choose a ruling first");
                // After any conflict the person must choose again.
                return post(path, { order: chosen.order, token: chosen.token, ...values }).catch((why: ApiError) => {
                  throw why.status === 409 ? new ApiError(409, "preview_outdated", why.message) : why;
                });
              }}
              onDone={() => {
                setRuled(`Ruled: ${chosen!.words}. The claims show the awards.`);
                setChosen(undefined);
                reload();
              }}
              onError={(why) => {
                if (why.code !== "preview_outdated") return;
                setChosen(undefined);
                reload();
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
              {each.table} round {each.round}, seat {each.seat} <span class="quiet">{readableId(each.tier)}</span>
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
