import { useEffect, useId, useRef, useState } from "preact/hooks";

import { get, type ApiError } from "../lib/api";
import { Problem } from "./act";
import { DataTable } from "./data_table";
import { useQuery, useLive } from "./live";
import type { JournalRecord, Pool } from "./types";
import { State, Time, readableId } from "./format";

const kFields: [string, string, string][] = [
  ["kind", "Kind", "payment_recorded"],
  ["pool", "Pool", ""],
  ["table", "Table", ""],
  ["round", "Round", ""],
  ["who", "Person", ""],
  ["from", "From", "2026-11-01"],
  ["to", "To before", "2026-12-01"],
];
const kPage = 50;

interface Page {
  records: JournalRecord[];
  before?: number;
}

// The search is part of the page address, so that people can bookmark it and go back to it.
export function Journal({ query }: { query: string }) {
  const id = useId();
  const records = useLive((live) => live.changes.records);
  const search = new URLSearchParams(query);
  const given = kFields.filter(([name]) => search.get(name));
  const path = `/records?${new URLSearchParams([...given.map(([name]) => [name, search.get(name)!]), ["limit", String(kPage)]] as string[][])}`;
  const { data, error } = useQuery<Page>(path, records);
  const [older, setOlder] = useState<Page>({ records: [] });
  const [problem, setProblem] = useState<ApiError | undefined>();
  useEffect(() => setOlder({ records: [] }), [path]);
  const form = useRef<HTMLFormElement>(null);

  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = new URLSearchParams();
    for (const [name, value] of new FormData(form.current!)) if (String(value).trim()) wanted.set(name, String(value).trim());
    location.hash = wanted.size ? `#/journal/${encodeURIComponent(wanted.toString())}` : "#/journal";
  };
  // `data` has the newest records and grows; `older` has the pages that "Older records" loaded.
  const oldest = older.records.length ? older.before : data?.before;
  const more = () => {
    setProblem(undefined);
    get<Page>(`${path}&before=${oldest}`).then(
      (page) => setOlder({ ...page, records: [...(older.records.length ? older.records : (data?.records ?? [])), ...page.records] }),
      setProblem,
    );
  };
  const seen = new Set(older.records.map((each) => each.record));
  const rows = [...(data?.records ?? []).filter((each) => !seen.has(each.record)), ...older.records];
  return (
    <>
      <form ref={form} class="search" onSubmit={submit} role="search" aria-label="Journal" key={query}>
        {kFields.map(([name, label, hint]) => (
          <div key={name} class="field">
            <label for={`${id}-${name}`}>{label}</label>
            <input
              id={`${id}-${name}`}
              name={name}
              defaultValue={search.get(name) ?? ""}
              placeholder={hint}
              autoComplete="off"
              spellcheck={false}
              maxLength={100}
            />
          </div>
        ))}
        <div class="send">
          <button type="submit" class="primary">
            Search
          </button>
        </div>
      </form>
      <Problem error={error ?? problem} />
      {data && rows.length === 0 && !error && <p class="quiet">No record matches.</p>}
      {rows.length > 0 && (
        <DataTable label="Records" columns={["Record", "Time", "What", "Pool", "Table", "Round", "Who"]}>
          {rows.map((each) => (
            <tr key={each.record}>
              <th scope="row">
                <a href={`#/journal/${each.record}`}>{each.record}</a>
              </th>
              <td>
                <Time utc={each.utc} />
              </td>
              <td>
                {readableId(each.kind)} {each.refused && <State state="refused" />}
              </td>
              <td>{each.pool}</td>
              <td>{each.table}</td>
              <td>{each.round}</td>
              <td>{each.who}</td>
            </tr>
          ))}
        </DataTable>
      )}
      {oldest !== undefined && (
        <p>
          <button type="button" onClick={more}>
            Older records
          </button>
        </p>
      )}
      <Reports />
    </>
  );
}

const kReports: [string, string, string][] = [
  ["wins", "Wins", "Every jackpot and how its amount was calculated"],
  ["reconciliation", "Reconciliation", "Money received, money paid, and the balance"],
  ["differences", "Differences", "Payments that differ from the amount due"],
];

function Reports() {
  const id = useId();
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, 7));
  const [pool, setPool] = useState("");
  const pools = useQuery<{ pools: Pool[] }>("/pools", 0).data?.pools ?? [];
  const query = new URLSearchParams([...(month ? [["month", month]] : []), ...(pool ? [["pool", pool]] : [])] as string[][]);
  return (
    <section aria-labelledby={`${id}-title`} class="panel">
      <h2 id={`${id}-title`}>Reports</h2>
      <div class="search">
        <div class="field">
          <label for={`${id}-month`}>Month</label>
          <input
            id={`${id}-month`}
            value={month}
            placeholder="all months"
            maxLength={7}
            onInput={(event) => setMonth(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for={`${id}-pool`}>Pool</label>
          <select id={`${id}-pool`} onChange={(event) => setPool(event.currentTarget.value)}>
            <option value="">All</option>
            {pools.map((each) => (
              <option key={each.pool} value={each.pool}>
                {each.pool}
              </option>
            ))}
          </select>
        </div>
      </div>
      <ul class="rows">
        {kReports.map(([report, words, what]) => (
          <li key={report}>
            <span>
              <strong>{words}</strong> <span class="quiet">{what}</span>
            </span>
            <span class="downloads">
              {["txt", "csv", "json"].map((form) => (
                <a key={form} class="button" href={`/api/v1/reports/${report}.${form}?${query}`} download={`${report}.${form}`}>
                  {form.toUpperCase()}
                  <span class="visually-hidden"> of {words}</span>
                </a>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FullRecord {
  record: number;
  utc: string;
  kind: string;
  payload: string;
  words: string;
}

export function RecordView({ seq }: { seq: number }) {
  const { data, error } = useQuery<FullRecord>(`/records/${seq}`, 0);
  const last = useLive((live) => live.changes.records);
  return (
    <>
      <p class="steps">
        <a href="#/journal">Journal</a>
        {seq > 0 && <a href={`#/journal/${seq - 1}`}>Previous record</a>}
        {(last === 0 || seq + 1 < last) && <a href={`#/journal/${seq + 1}`}>Next record</a>}
      </p>
      <Problem error={error} />
      {data && (
        <>
          <section class="panel" aria-label="In words">
            <div class="head">
              <h2>{readableId(data.kind)}</h2>
              <span class="quiet">
                <Time utc={data.utc} />
              </span>
            </div>
            <pre tabIndex={0} aria-label="The record in words">
              {data.words}
            </pre>
            <p>
              <a class="button" href={`/api/v1/records/${seq}/proof`} download={`record-${seq}.tlog-proof`}>
                Download the proof
              </a>{" "}
              <span class="quiet">for jackpot-audit check-proof, or any tool that reads C2SP proofs</span>
            </p>
          </section>
          <section class="panel" aria-label="Payload">
            <h2>Payload</h2>
            <pre tabIndex={0} aria-label="The payload, byte for byte" class="payload">
              {data.payload}
            </pre>
          </section>
        </>
      )}
    </>
  );
}
