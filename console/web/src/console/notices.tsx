import { post } from "../lib/api";
import { ActionForm, Disclosure, Problem } from "./act";
import { useQuery, useLive } from "./live";
import type { Notice, Session } from "./types";
import { State, Time, readableId, sentence } from "./format";

export function Notices({ session, all }: { session: Session; all: boolean }) {
  const version = useLive((live) => live.changes.notices);
  const { data, error, reload } = useQuery<{ notices: Notice[] }>(all ? "/notices" : "/notices?acknowledged=false", version);
  return (
    <>
      <div class="pick" role="group" aria-label="Which notices">
        <a href="#/notices" {...(all ? {} : { "aria-current": "true" as const })}>
          Waiting
        </a>
        <a href="#/notices/all" {...(all ? { "aria-current": "true" as const } : {})}>
          All
        </a>
      </div>
      <Problem error={error} />
      {data && data.notices.length === 0 && <p class="quiet">{all ? "There are no notices." : "No notice is waiting."}</p>}
      {data?.notices.map((each) => (
        <section key={each.notice} class="panel notice" aria-label={`Notice ${each.notice}`}>
          <div class="head">
            <h2>{sentence(each.text)}</h2>
            <State state="plain" words={readableId(each.kind)} />
            {each.delivery === "failed" && <State state="refused" words="Not delivered" />}
          </div>
          <p class="quiet">
            <Time utc={each.utc} /> · to {each.to.map(readableId).join(" and ")}
            {each.rule && ` · ${each.rule}`} · <a href={`#/journal/${each.record}`}>record {each.record}</a>
          </p>
          {each.acknowledged ? (
            <p>
              Acknowledged by {each.acknowledged_by}, {each.acknowledged_utc && <Time utc={each.acknowledged_utc} />}
              {each.remark && `: ${each.remark}`}
            </p>
          ) : (
            each.to.includes(session.role) && (
              <div class="acts">
                <Disclosure label="Acknowledge…">
                  <ActionForm
                    label="Acknowledge the notice"
                    fields={[{ name: "reason", label: "Remark", optional: true }]}
                    send={(values) => post(`/notices/${each.notice}/acknowledge`, values.reason ? values : {})}
                    onDone={reload}
                  />
                </Disclosure>
              </div>
            )
          )}
        </section>
      ))}
    </>
  );
}
