import { useState } from "preact/hooks";

import { ApiError, post } from "../lib/api";
import { amount } from "../lib/money";
import { ActionForm, Problem, reason } from "./act";
import { useQuery, useLive } from "./live";
import type { Hold, Preview, PreviewAward, Rulings, Session } from "./types";
import { claimPath, heldForText, readableId } from "./format";

// Lists the possible rulings of each hold with what each pays, as the rules compute it on a copy of the state. If a
// preview is outdated, the same ruling may pay another amount, so the person must choose again.
export function RulingView({ session, pool }: { session: Session; pool: string }) {
  const version = useLive((live) => live.changes.claims);
  const path = `/pools/${encodeURIComponent(pool)}/rulings`;
  const { data, error, reload } = useQuery<Rulings>(path, version);
  const [ruled, setRuled] = useState("");
  return (
    <>
      <p>
        <a href="#/claims/held">All held claims</a>
      </p>
      <Problem error={error} />
      <p class="news" role="status">
        {ruled}
      </p>
      {data && data.holds.length === 0 && !ruled && <p class="quiet">No claim of pool {pool} is held.</p>}
      {data?.holds.map((each, place) => (
        <HoldPanel
          key={each.hold}
          hold={each}
          title={data.holds.length > 1 ? `Hold ${place + 1} of ${data.holds.length}` : "Held"}
          path={path}
          may={session.role === "surveillance"}
          onRuled={(words) => {
            setRuled(`Ruled: ${words}. The claims show the awards.`);
            reload();
          }}
          reload={reload}
        />
      ))}
    </>
  );
}

interface HoldProps {
  hold: Hold;
  title: string;
  path: string;
  may: boolean;
  onRuled: (words: string) => void;
  reload: () => void;
}

function HoldPanel({ hold, title, path, may, onRuled, reload }: HoldProps) {
  const [chosen, setChosen] = useState<Preview | undefined>();
  return (
    <section class="hold" aria-label={title}>
      <h2>{title}</h2>
      <p>
        {hold.rounds.map((each, place) => (
          <span key={`${each.table}/${each.round}`}>
            {place > 0 && ", "}
            <a href={claimPath(each.table, each.round)}>
              {each.table} round {each.round}
            </a>
          </span>
        ))}
        . {heldForText(hold.held_for)} {may ? "Choose the ruling that matches the camera recording." : "Surveillance will rule on it."}
        {!hold.all_rulings && " More orders are possible than are shown here; use jackpotctl rule --order for them."}
      </p>
      <fieldset class="rulings">
        <legend class="visually-hidden">Possible rulings</legend>
        {hold.previews.map((each, place) => (
          <Choice
            key={each.words}
            preview={each}
            group={`ruling-${hold.hold}`}
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
          onDone={() => onRuled(chosen!.words)}
          onError={(why) => {
            if (why.code !== "preview_outdated") return;
            setChosen(undefined);
            reload();
          }}
        />
      )}
    </section>
  );
}

interface ChoiceProps {
  preview: Preview;
  group: string;
  number: number;
  may: boolean;
  chosen: boolean;
  choose: () => void;
}

function Choice({ preview, group, number, may, chosen, choose }: ChoiceProps) {
  const words = preview.words.charAt(0).toUpperCase() + preview.words.slice(1);
  return (
    <div class={chosen ? "ruling chosen" : "ruling"}>
      {may ? (
        <label class="head">
          <input type="radio" name={group} checked={chosen} onChange={choose} />
          <span>{words}</span>
        </label>
      ) : (
        <h3 class="head">{words}</h3>
      )}
      <AwardRows label={`What ruling ${number} pays`} awards={preview.awards} />
      {preview.withdrawn.length > 0 && (
        <>
          <p class="quiet">Due until then, and withdrawn</p>
          <AwardRows label={`What ruling ${number} withdraws`} awards={preview.withdrawn} />
        </>
      )}
      {preview.locked.length > 0 && (
        <>
          <p class="quiet">Not due, and changed</p>
          <AwardRows label={`Locked awards that ruling ${number} changes`} awards={preview.locked} />
        </>
      )}
      <p class="after">
        Then the meter is {amount(preview.meter_after)}, displayed {amount(preview.displayed_after)}, the reserve{" "}
        {amount(preview.reserve_after)}.
      </p>
    </div>
  );
}

const AwardRows = ({ label, awards }: { label: string; awards: PreviewAward[] }) => (
  <ol class="rows" aria-label={label}>
    {awards.map((each) => (
      <li key={`${each.table}/${each.round}/${each.seat}/${each.tier}`}>
        <span>
          {each.table} round {each.round}, seat {each.seat} <span class="quiet">{readableId(each.tier)}</span>
        </span>
        <strong class="sum">{amount(each.amount)}</strong>
        {each.arithmetic && (
          <span class="arithmetic">
            {each.arithmetic} <span class="rule">{each.rule}</span>
          </span>
        )}
      </li>
    ))}
  </ol>
);
