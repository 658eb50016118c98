// A dealer's screen of a demo floor: wagers, cards, the jackpot button, and what is to be paid in which order.
import "./table/table.css";

import { type ComponentChildren, render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { get, getByItself, type Refused, setCsrf } from "./lib/api";
import { Felt } from "./table/felt";
import type { Shown } from "./table/game";
import { type Session, SignIn } from "./table/signin";

const kLookEvery = 1000;
const table = decodeURIComponent(location.pathname.split("/")[2] ?? "");
document.title = `Table ${table}`;

function Page() {
  const [session, setSession] = useState<Session | "none">();
  const [shown, setShown] = useState<Shown>();
  const [trouble, setTrouble] = useState<Refused>();
  const looks = useRef(0);

  useEffect(() => {
    get<Session>("/session").then(
      (found) => {
        setCsrf(found.csrf);
        setSession(found);
      },
      () => setSession("none"),
    );
  }, []);

  // An answer that was asked for earlier than one that is here is old.
  const show = useCallback((now: Shown) => {
    ++looks.current;
    setShown(now);
    setTrouble(undefined);
  }, []);
  const look = useCallback(async () => {
    const asked = ++looks.current;
    try {
      const now = await getByItself<Shown>(`/demo/tables/${encodeURIComponent(table)}`);
      if (asked === looks.current) show(now);
    } catch (error) {
      const refused = error as Refused;
      if (refused.status === 401) setSession("none");
      else setTrouble(refused);
    }
  }, [show]);

  const isIn = session !== undefined && session !== "none" && !session.must_change_password;
  useEffect(() => {
    if (!isIn) return;
    let next: number | undefined;
    let isOver = false;
    const lookAgain = async () => {
      if (!document.hidden) await look();
      if (!isOver) next = setTimeout(lookAgain, kLookEvery);
    };
    void lookAgain();
    return () => {
      isOver = true;
      clearTimeout(next);
    };
  }, [isIn, look]);

  if (session === undefined) return <main class="door" aria-busy="true" />;
  if (session === "none") return <SignIn table={table} onSignedIn={setSession} />;
  if (session.must_change_password)
    return (
      <Notice title="A new password first">
        Choose one at the <a href="/">console</a>, then come back to this table.
      </Notice>
    );
  if (!shown)
    return (
      <Notice title={`Table ${table}`}>
        {trouble?.code === "no_demo_floor"
          ? "This is no demo floor: its tables have controllers of their own, and are not dealt here."
          : trouble?.code === "unknown_table"
            ? `The demo floor has no table ${table}. Its tables are named in the section [demo] of the configuration.`
            : (trouble?.message ?? "One moment…")}
      </Notice>
    );
  return <Felt shown={shown} person={session.name} trouble={trouble} onShown={show} />;
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
