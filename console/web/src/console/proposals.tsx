import { useState } from "preact/hooks";

import { post, type ApiError } from "../lib/api";
import { ActionForm, Disclosure, Problem } from "./act";
import { useQuery, useLive } from "./live";
import type { Proposal, Session } from "./types";
import { State, Time, errorText, readableId, sentence } from "./format";

const kStates = ["open", "done", "rejected", "withdrawn", "refused", "approved", ""];

export function Proposals({ session, state }: { session: Session; state: string }) {
  const filter = state === "all" ? "" : state;
  const version = useLive((live) => live.changes.proposals);
  const { data, error, reload } = useQuery<{ proposals: Proposal[] }>(
    `/proposals${filter ? `?state=${encodeURIComponent(filter)}` : ""}`,
    version,
  );
  // Shown above the list, because a closed proposal disappears from it.
  const [news, setNews] = useState("");
  const [problem, setProblem] = useState("");
  const done = (words: string) => {
    setNews(words);
    setProblem("");
    reload();
  };
  const stale = (number: number, why: ApiError) => {
    setNews("");
    setProblem(why.status === 409 ? `Proposal ${number}: ${errorText(why)}` : "");
    if (why.status === 409) reload();
  };
  return (
    <>
      <div class="pick" role="group" aria-label="State of the proposals">
        {kStates.map((each) => (
          <a key={each} href={`#/proposals/${each || "all"}`} {...(each === filter ? { "aria-current": "true" as const } : {})}>
            {each ? readableId(each) : "All"}
          </a>
        ))}
      </div>
      <Problem error={error} />
      <p class="refusal" role="alert">
        {problem}
      </p>
      <p class="news" role="status">
        {news}
      </p>
      {data && data.proposals.length === 0 && <p class="quiet">No proposal {filter ? `is ${filter}` : "was made yet"}.</p>}
      {data?.proposals.map((each) => (
        <ProposalPanel key={each.proposal} proposal={each} session={session} done={done} stale={stale} />
      ))}
    </>
  );
}

// For display; the API checks the role (rolesOfSecondPerson in desk_api.cpp).
const secondPersonOf = (proposal: Proposal) =>
  /"kind":"pool_/.test(proposal.proposed) ? "An administrator or inspector" : "Another supervisor, or an administrator";

const pretty = (json: string) => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
};

interface PanelProps {
  proposal: Proposal;
  session: Session;
  done: (words: string) => void;
  stale: (number: number, why: ApiError) => void;
}

function ProposalPanel({ proposal, session, done, stale }: PanelProps) {
  const onError = (error: ApiError) => stale(proposal.proposal, error);
  const path = `/proposals/${proposal.proposal}`;
  const title = `proposal-${proposal.proposal}`;
  const maySecond = ["supervisor", "administrator", "inspector"].includes(session.role);
  return (
    <section class="panel" aria-labelledby={title}>
      <div class="head">
        <h2 id={title}>Proposal {proposal.proposal}</h2>
        {proposal.state === "open" ? <State state="due" words="Waits for a second person" /> : <State state={proposal.state} />}
      </div>
      <p class="words">{sentence(proposal.words)}</p>
      <dl class="facts">
        <div>
          <dt>Proposed by</dt>
          <dd>
            {proposal.by}, <Time utc={proposal.made_utc} />
          </dd>
        </div>
        <div>
          <dt>Reason</dt>
          <dd>{proposal.reason}</dd>
        </div>
        {proposal.state === "open" && (
          <div>
            <dt>Second person</dt>
            <dd>
              {secondPersonOf(proposal)}, until <Time utc={proposal.expires_utc} />
            </dd>
          </div>
        )}
        {proposal.closed_by && (
          <div>
            <dt>Decided by</dt>
            <dd>
              {proposal.closed_by}
              {proposal.remark && `: ${proposal.remark}`}
            </dd>
          </div>
        )}
        {proposal.outcome_record !== undefined && (
          <div>
            <dt>Carried out</dt>
            <dd>
              <a href={`#/journal/${proposal.outcome_record}`}>Record {proposal.outcome_record}</a>
            </dd>
          </div>
        )}
      </dl>
      <div class="acts">
        <Disclosure label="The exact command">
          <pre tabIndex={0} aria-label="The command as it will be journaled">
            {pretty(proposal.proposed)}
          </pre>
          <p class="hash">SHA-256 {proposal.sha256}</p>
        </Disclosure>
        {proposal.state === "open" && (
          <>
            {maySecond && (
              <>
                <Disclosure label="Approve…">
                  <ActionForm
                    label={`Approve proposal ${proposal.proposal}`}
                    fields={[]}
                    send={() => post(`${path}/approve`, { sha256: proposal.sha256 })}
                    onDone={() => done(`Proposal ${proposal.proposal} is approved and carried out.`)}
                    onError={onError}
                  >
                    <p>It is carried out at once and recorded with both names.</p>
                  </ActionForm>
                </Disclosure>
                <Disclosure label="Reject…">
                  <ActionForm
                    label={`Reject proposal ${proposal.proposal}`}
                    danger
                    fields={[{ name: "reason", label: "Reason" }]}
                    send={(values) => post(`${path}/reject`, values)}
                    onDone={() => done(`Proposal ${proposal.proposal} is rejected.`)}
                    onError={onError}
                  />
                </Disclosure>
              </>
            )}
            {session.name === proposal.by && (
              <Disclosure label="Withdraw…">
                <ActionForm
                  label={`Withdraw proposal ${proposal.proposal}`}
                  fields={[{ name: "reason", label: "Reason" }]}
                  send={(values) => post(`${path}/withdraw`, values)}
                  onDone={() => done(`Proposal ${proposal.proposal} is withdrawn.`)}
                  onError={onError}
                />
              </Disclosure>
            )}
          </>
        )}
      </div>
    </section>
  );
}
