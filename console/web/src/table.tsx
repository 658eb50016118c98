// The dealer's page of a demo table: wagers, cards, the jackpot button, and the payments in their order.
import "./lib/visually_hidden.css";
import "./table/table.css";

import { type ComponentChildren, render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { get, getInBackground, type ApiError, setCsrf } from "./lib/api";
import { Felt } from "./table/felt";
import type { TableView } from "./table/game";
import { type Session, SignIn } from "./table/signin";

const kRefreshMs = 1000;
const table = decodeURIComponent(location.pathname.split("/")[2] ?? "");
document.title = `Table ${table}`;

function Page() {
  const [session, setSession] = useState<Session | "none">();
  const [shown, setShown] = useState<TableView>();
  const [error, setError] = useState<ApiError>();
  const requests = useRef(0);

  useEffect(() => {
    get<Session>("/session").then(
      (found) => {
        setCsrf(found.csrf);
        setSession(found);
      },
      () => setSession("none"),
    );
  }, []);

  // An answer to an earlier request than the one shown is outdated.
  const show = useCallback((now: TableView) => {
    ++requests.current;
    setShown(now);
    setError(undefined);
  }, []);
  const refresh = useCallback(async () => {
    const request = ++requests.current;
    try {
      const now = await getInBackground<TableView>(`/demo/tables/${encodeURIComponent(table)}`);
      if (request === requests.current) show(now);
    } catch (thrown) {
      const problem = thrown as ApiError;
      if (problem.status === 401) setSession("none");
      else setError(problem);
    }
  }, [show]);

  const isSignedIn = session !== undefined && session !== "none" && !session.must_change_password;
  useEffect(() => {
    if (!isSignedIn) return;
    let next: number | undefined;
    let isUnmounted = false;
    const refreshAgain = async () => {
      if (!document.hidden) await refresh();
      if (!isUnmounted) next = setTimeout(refreshAgain, kRefreshMs);
    };
    void refreshAgain();
    return () => {
      isUnmounted = true;
      clearTimeout(next);
    };
  }, [isSignedIn, refresh]);

  if (session === undefined) return <main class="door" aria-busy="true" />;
  if (session === "none") return <SignIn table={table} onSignedIn={setSession} />;
  if (session.must_change_password)
    return (
      <Notice title="Change your password first">
        Choose a new password at the <a href="/">console</a>, then come back to this table.
      </Notice>
    );
  if (!shown)
    return (
      <Notice title={`Table ${table}`}>
        {error?.code === "no_demo_floor"
          ? "This daemon has no demo tables. Its tables have their own controllers."
          : error?.code === "unknown_table"
            ? `The demo floor has no table ${table}. Its tables are named in the section [demo] of the configuration.`
            : (error?.message ?? "One moment…")}
      </Notice>
    );
  return <Felt shown={shown} person={session.name} error={error} onUpdate={show} />;
}

const Notice = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <main class="door">
    <div class="panel">
      <h1>{title}</h1>
      <p role="status">{children}</p>
    </div>
  </main>
);

render(<Page />, document.getElementById("page")!);
