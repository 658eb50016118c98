import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Refused, del, get, post, put, setCsrf, whenSignedOut } from "../lib/api";
import { Act } from "./act";
import { ClaimView, Claims } from "./claims";
import { Floor } from "./floor";
import { Journal, RecordView } from "./journal";
import { beLive, isReached, useAsked, useLive } from "./live";
import { Notices } from "./notices";
import { People } from "./people";
import { Pools } from "./pools";
import { Proposals } from "./proposals";
import { RulingView } from "./rulings";
import type { Claim, Notice, Proposal, Session } from "./types";
import { named, timeText } from "./words";

const kRestarted = "The controller was started again, which ends every session. Sign in to go on where you were.";
const kEnded = "Your session has ended: nobody used it for a while, or your account was changed. Sign in to go on where you were.";

export function Console() {
  const [session, setSession] = useState<Session | undefined>();
  const [state, setState] = useState<"asking" | "unreachable" | "out" | "in">("asking");
  const [why, setWhy] = useState("");
  const signedIn = useRef(false);

  const begin = (begun: Session) => {
    setCsrf(begun.csrf);
    signedIn.current = true;
    setSession(begun);
    setState("in");
    setWhy("");
  };
  const end = (reason: string) => {
    signedIn.current = false;
    setSession(undefined);
    setState("out");
    setWhy(reason);
  };

  useEffect(() => {
    whenSignedOut(() => {
      if (signedIn.current) end(isReached() ? kEnded : kRestarted);
    });
    let timer: number;
    const ask = () =>
      get<Session>("/session").then(begin, (refused: Refused) => {
        setState(refused.status === 0 ? "unreachable" : "out");
        if (refused.status === 0) timer = setTimeout(ask, 1000);
      });
    void ask();
    return () => clearTimeout(timer);
  }, []);

  if (state === "asking") return null;
  if (state === "unreachable")
    return (
      <Entrance title="Not reachable">
        <p role="status">The controller cannot be reached. This page tries again every second.</p>
      </Entrance>
    );
  if (!session) return <SignIn why={why} begin={begin} />;
  if (session.must_change_password)
    return <NewPassword session={session} changed={() => setSession({ ...session, must_change_password: false })} />;
  const signOut = async () => {
    signedIn.current = false;
    await del("/session").catch(() => {});
    end("You are signed out.");
  };
  return <Desk session={session} signOut={signOut} />;
}

const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <path d="M16 2 29 16 16 30 3 16Z" />
    <path class="seven" d="M11 10.5h10v2.4L16.4 23h-3.2l4.6-9.6H11z" />
  </svg>
);

function Entrance({ title, children }: { title: string; children: ComponentChildren }) {
  const door = useRef<HTMLDivElement>(null);
  useEffect(() => {
    document.title = `${title} · Jackpots`;
    door.current!.querySelector("input")?.focus();
  }, [title]);
  return (
    <main class="entrance">
      <div class="door" ref={door}>
        <Mark />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

function SignIn({ why, begin }: { why: string; begin: (session: Session) => void }) {
  return (
    <Entrance title="Jackpot desk">
      {why && (
        <p class="why" role="status">
          {why}
        </p>
      )}
      <Act
        label="Sign in"
        fields={[
          { name: "name", label: "Name", autoComplete: "username" },
          { name: "password", label: "Password", type: "password", autoComplete: "current-password" },
        ]}
        send={(values) => post<Session>("/session", values)}
        done={begin}
      />
    </Entrance>
  );
}

function NewPassword({ session, changed }: { session: Session; changed: () => void }) {
  return (
    <Entrance title="Choose a password">
      <p>
        Welcome, {session.name}. Your first password was known to someone else: choose one of your own, of at least twelve
        characters.
      </p>
      <Act
        label="Change it"
        fields={[
          { name: "old", label: "The password you signed in with", type: "password", autoComplete: "current-password" },
          { name: "new", label: "The new one", type: "password", autoComplete: "new-password" },
          { name: "again", label: "The new one again", type: "password", autoComplete: "new-password" },
        ]}
        send={async (values) => {
          if (values.new !== values.again) throw new Refused(400, "differ", "the new password was not written the same twice");
          await put("/session/password", { old: values.old, new: values.new });
        }}
        done={changed}
      />
    </Entrance>
  );
}

// ---- the desk

interface View {
  title: string;
  of: string; // the entry of the navigation
  show: (session: Session) => JSX.Element;
}

function viewOf(place: string[]): View {
  const [first = "pools", second, third] = place;
  if (first === "floor")
    return { title: second ? `Table ${second}` : "Floor", of: "floor", show: (session) => <Floor session={session} open={second} /> };
  if (first === "claims" && second && third)
    return {
      title: `${second}, round ${third}`,
      of: "claims",
      show: (session) => <ClaimView key={`${second}/${third}`} session={session} table={second} round={Number(third)} />,
    };
  if (first === "claims") return { title: "Claims", of: "claims", show: () => <Claims state={second ?? ""} /> };
  if (first === "rulings" && second)
    return { title: `Ruling on ${second}`, of: "claims", show: (session) => <RulingView key={second} session={session} pool={second} /> };
  if (first === "proposals")
    return { title: "Proposals", of: "proposals", show: (session) => <Proposals session={session} state={second ?? "open"} /> };
  if (first === "notices")
    return { title: "Notices", of: "notices", show: (session) => <Notices session={session} all={second === "all"} /> };
  if (first === "journal" && second && /^\d+$/.test(second))
    return { title: `Record ${second}`, of: "journal", show: () => <RecordView key={second} seq={Number(second)} /> };
  if (first === "journal") return { title: "Journal", of: "journal", show: () => <Journal query={second ?? ""} /> };
  if (first === "people") return { title: "People", of: "people", show: (session) => <People session={session} /> };
  return { title: "Pools", of: "pools", show: (session) => <Pools session={session} /> };
}

const placeNow = () =>
  location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part)
    .map(decodeURIComponent);

function Desk({ session, signOut }: { session: Session; signOut: () => void }) {
  const [place, setPlace] = useState(placeNow);
  const title = useRef<HTMLHeadingElement>(null);
  const moved = useRef(false);
  useEffect(beLive, []);
  useEffect(() => {
    const move = () => {
      moved.current = true;
      setPlace(placeNow());
    };
    addEventListener("hashchange", move);
    return () => removeEventListener("hashchange", move);
  }, []);
  const view = viewOf(place);
  useLayoutEffect(() => {
    document.title = `${view.title} · Jackpots`;
    if (!moved.current) return;
    title.current?.focus();
    scrollTo(0, 0);
  }, [view.title]);

  const skip = (event: Event) => {
    event.preventDefault();
    title.current?.focus();
  };
  return (
    <div class="desk">
      <a class="skip" href="#main" onClick={skip}>
        To the contents
      </a>
      <header>
        <a class="brand" href="#/pools">
          <Mark />
          <span>Jackpots</span>
        </a>
        <Navigation of={view.of} session={session} />
        <div class="me">
          <p>
            <strong>{session.name}</strong>
            <span class="role">{named(session.role)}</span>
          </p>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main">
        <Reached />
        <Told />
        <h1 ref={title} tabIndex={-1}>
          {view.title}
        </h1>
        {view.show(session)}
      </main>
    </div>
  );
}

function Navigation({ of, session }: { of: string; session: Session }) {
  const changes = useLive((live) => live.changes);
  const held = useAsked<{ claims: Claim[] }>("/claims?state=held", changes.claims).data?.claims.length;
  const open = useAsked<{ proposals: Proposal[] }>("/proposals?state=open", changes.proposals).data?.proposals.filter(
    (each) => each.state === "open",
  ).length;
  const waiting = useAsked<{ notices: Notice[] }>("/notices?acknowledged=false", changes.notices).data?.notices.length;
  const entries: [string, string, number | undefined, string][] = [
    ["pools", "Pools", undefined, ""],
    ["floor", "Floor", undefined, ""],
    ["claims", "Claims", held, "held for a ruling"],
    ["proposals", "Proposals", open, "open"],
    ["notices", "Notices", waiting, "not acknowledged"],
    ["journal", "Journal", undefined, ""],
  ];
  if (session.role === "administrator") entries.push(["people", "People", undefined, ""]);
  return (
    <nav aria-label="Desk">
      <ul>
        {entries.map(([id, words, count, what]) => (
          <li key={id}>
            <a href={`#/${id}`} {...(id === of ? { "aria-current": "page" as const } : {})}>
              {words}
              {!!count && (
                <span class="count">
                  {count >= 100 ? "99+" : count}
                  <span class="hidden"> {what}</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

// For those who listen: what needs people, once, and not every amount.
function Told() {
  const words = useLive((live) =>
    Object.values(live.shown)
      .filter((each) => each.held || each.pending || each.fault)
      .map((each) => `${each.pool}: ${each.fault ? "displays show a fault" : each.held ? "held for a ruling" : "jackpot pending"}.`)
      .join(" "),
  );
  return (
    <p class="hidden" role="status">
      {words}
    </p>
  );
}

// Says when the controller is lost and when it is back; and nothing while all is well.
function Reached() {
  const reached = useLive((live) => live.reached);
  const since = useLive((live) => live.since);
  return (
    <div class="reached" role="status">
      {reached === false && (
        <p>
          <strong>The controller cannot be reached</strong> since {timeText(since)}. What you see is from then; this page tries
          again every second.
        </p>
      )}
    </div>
  );
}
