import { useState } from "preact/hooks";

import { post, type Refused } from "../lib/api";
import { Act, Maybe, Problem } from "./act";
import { useAsked, useLive } from "./live";
import type { Proposal, Session } from "./types";
import { State, Time, inWords, named, sentence } from "./words";

const kStates = ["open", "done", "rejected", "withdrawn", "refused", "approved", ""];

export function Proposals({ session, state }: { session: Session; state: string }) {
  const asked = state === "all" ? "" : state;
  const version = useLive((live) => live.changes.proposals);
  const { data, refused, again } = useAsked<{ proposals: Proposal[] }>(
    `/proposals${asked ? `?state=${encodeURIComponent(asked)}` : ""}`,
    version,
  );
  // Said above the list: a proposal that is not open any more leaves it.
  const [news, setNews] = useState("");
  const [problem, setProblem] = useState("");
  const done = (words: string) => {
    setNews(words);
    setProblem("");
    again();
  };
  const stale = (number: number, why: Refused) => {
    setNews("");
    setProblem(why.status === 409 ? `Proposal ${number}: ${inWords(why)}` : "");
    if (why.status === 409) again();
  };
  return (
    <>
      <div class="pick" role="group" aria-label="State of the proposals">
        {kStates.map((each) => (
          <a key={each} href={`#/proposals/${each || "all"}`} {...(each === asked ? { "aria-current": "true" as const } : {})}>
            {each ? named(each) : "All"}
          </a>
        ))}
      </div>
      <Problem refused={refused} />
      <p class="refusal" role="alert">
        {problem}
      </p>
      <p class="news" role="status">
        {news}
      </p>
      {data && data.proposals.length === 0 && <p class="quiet">No proposal {asked ? `is ${asked}` : "was made yet"}.</p>}
      {data?.proposals.map((each) => (
        <ProposalPanel key={each.proposal} proposal={each} session={session} done={done} stale={stale} />
      ))}
    </>
  );
}

// As the desk has it, which decides.
const secondOf = (proposal: Proposal) =>
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
  stale: (number: number, why: Refused) => void;
}

function ProposalPanel({ proposal, session, done, stale }: PanelProps) {
  const refused = (why: Refused) => stale(proposal.proposal, why);
  const path = `/proposals/${proposal.proposal}`;
  const title = `proposal-${proposal.proposal}`;
  const maySecond = ["supervisor", "administrator", "inspector"].includes(session.role);
  return (
    <section class="panel" aria-labelledby={title}>
      <div class="head">
        <h2 id={title}>Proposal {proposal.proposal}</h2>
        {proposal.state === "open" ? <State state="pending" words="Waits for a second person" /> : <State state={proposal.state} />}
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
              {secondOf(proposal)}, until <Time utc={proposal.expires_utc} />
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
        <Maybe label="The exact command">
          <pre tabIndex={0} aria-label="The command as it will be journaled">
            {pretty(proposal.proposed)}
          </pre>
          <p class="hash">SHA-256 {proposal.sha256}</p>
        </Maybe>
        {proposal.state === "open" && (
          <>
            {maySecond && (
              <>
                <Maybe label="Approve…">
                  <Act
                    label={`Approve proposal ${proposal.proposal}`}
                    fields={[]}
                    send={() => post(`${path}/approve`, { sha256: proposal.sha256 })}
                    done={() => done(`Proposal ${proposal.proposal} is approved and carried out.`)}
                    refused={refused}
                  >
                    <p>It is carried out at once, with both names.</p>
                  </Act>
                </Maybe>
                <Maybe label="Reject…">
                  <Act
                    label={`Reject proposal ${proposal.proposal}`}
                    danger
                    fields={[{ name: "reason", label: "Reason" }]}
                    send={(values) => post(`${path}/reject`, values)}
                    done={() => done(`Proposal ${proposal.proposal} is rejected.`)}
                    refused={refused}
                  />
                </Maybe>
              </>
            )}
            {session.name === proposal.by && (
              <Maybe label="Withdraw…">
                <Act
                  label={`Withdraw proposal ${proposal.proposal}`}
                  fields={[{ name: "reason", label: "Reason" }]}
                  send={(values) => post(`${path}/withdraw`, values)}
                  done={() => done(`Proposal ${proposal.proposal} is withdrawn.`)}
                  refused={refused}
                />
              </Maybe>
            )}
          </>
        )}
      </div>
    </section>
  );
}
