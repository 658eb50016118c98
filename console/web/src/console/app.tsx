import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { ApiError, del, get, post, put, setCsrf, whenSignedOut } from "../lib/api";
import { ActionForm } from "./act";
import { ClaimView, Claims } from "./claims";
import { Floor } from "./floor";
import { Journal, RecordView } from "./journal";
import { connectFeed, isConnected, useQuery, useLive } from "./live";
import { Notices } from "./notices";
import { People } from "./people";
import { Pools } from "./pools";
import { Proposals } from "./proposals";
import { RulingView } from "./rulings";
import type { Claim, Notice, Proposal, Session } from "./types";
import { readableId, timeText } from "./format";

const kRestarted = "The controller was started again, which ends every session. Sign in to continue where you were.";
const kEnded = "Your session has ended: it was not used for some time, or your account was changed. Sign in to continue where you were.";

export function Console() {
  const [session, setSession] = useState<Session | undefined>();
  const [state, setState] = useState<"loading" | "unreachable" | "out" | "in">("loading");
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
      if (signedIn.current) end(isConnected() ? kEnded : kRestarted);
    });
    let timer: number;
    const query = () =>
      get<Session>("/session").then(begin, (error: ApiError) => {
        setState(error.status === 0 ? "unreachable" : "out");
        if (error.status === 0) timer = setTimeout(query, 1000);
      });
    void query();
    return () => clearTimeout(timer);
  }, []);

  if (state === "loading") return null;
  if (state === "unreachable")
    return (
      <StartPage title="Not reachable">
        <p role="status">The controller cannot be reached. This page tries again every second.</p>
      </StartPage>
    );
  if (!session) return <SignIn why={why} begin={begin} />;
  if (session.must_change_password)
    return <NewPassword session={session} changed={() => setSession({ ...session, must_change_password: false })} />;
  const signOut = async () => {
    signedIn.current = false;
    await del("/session").catch(() => {});
    end("You are signed out.");
  };
  return <DeskPage session={session} signOut={signOut} />;
}

const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <path d="M16 2 29 16 16 30 3 16Z" />
    <path class="seven" d="M11 10.5h10v2.4L16.4 23h-3.2l4.6-9.6H11z" />
  </svg>
);

function StartPage({ title, children }: { title: string; children: ComponentChildren }) {
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
    <StartPage title="Jackpot desk">
      {why && (
        <p class="why" role="status">
          {why}
        </p>
      )}
      <ActionForm
        label="Sign in"
        fields={[
          { name: "name", label: "Name", autoComplete: "username" },
          { name: "password", label: "Password", type: "password", autoComplete: "current-password" },
        ]}
        send={(values) => post<Session>("/session", values)}
        onDone={begin}
      />
    </StartPage>
  );
}

function NewPassword({ session, changed }: { session: Session; changed: () => void }) {
  return (
    <StartPage title="Choose a password">
      <p>
        Welcome, {session.name}. Someone else knows your first password: choose your own, with at least twelve characters.
      </p>
      <ActionForm
        label="Change the password"
        fields={[
          { name: "old", label: "The password you signed in with", type: "password", autoComplete: "current-password" },
          { name: "new", label: "New password", type: "password", autoComplete: "new-password" },
          { name: "again", label: "Repeat the new password", type: "password", autoComplete: "new-password" },
        ]}
        send={async (values) => {
          if (values.new !== values.again) throw new ApiError(400, "differ", "the two new passwords differ");
          await put("/session/password", { old: values.old, new: values.new });
        }}
        onDone={changed}
      />
    </StartPage>
  );
}

// ---- the pages after sign-in

interface View {
  title: string;
  section: string; // the entry of the navigation
  show: (session: Session) => JSX.Element;
}

function viewOf(place: string[]): View {
  const [first = "pools", second, third] = place;
  if (first === "floor")
    return { title: second ? `Table ${second}` : "Floor", section: "floor", show: (session) => <Floor session={session} open={second} /> };
  if (first === "claims" && second && third)
    return {
      title: `${second}, round ${third}`,
      section: "claims",
      show: (session) => <ClaimView key={`${second}/${third}`} session={session} table={second} round={Number(third)} />,
    };
  if (first === "claims") return { title: "Claims", section: "claims", show: () => <Claims state={second ?? ""} /> };
  if (first === "rulings" && second)
    return { title: `Ruling on ${second}`, section: "claims", show: (session) => <RulingView key={second} session={session} pool={second} /> };
  if (first === "proposals")
    return { title: "Proposals", section: "proposals", show: (session) => <Proposals session={session} state={second ?? "open"} /> };
  if (first === "notices")
    return { title: "Notices", section: "notices", show: (session) => <Notices session={session} all={second === "all"} /> };
  if (first === "journal" && second && /^\d+$/.test(second))
    return { title: `Record ${second}`, section: "journal", show: () => <RecordView key={second} seq={Number(second)} /> };
  if (first === "journal") return { title: "Journal", section: "journal", show: () => <Journal query={second ?? ""} /> };
  if (first === "people") return { title: "People", section: "people", show: (session) => <People session={session} /> };
  return { title: "Pools", section: "pools", show: (session) => <Pools session={session} /> };
}

const placeNow = () =>
  location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part)
    .map(decodeURIComponent);

function DeskPage({ session, signOut }: { session: Session; signOut: () => void }) {
  const [place, setPlace] = useState(placeNow);
  const title = useRef<HTMLHeadingElement>(null);
  const moved = useRef(false);
  useEffect(connectFeed, []);
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
        Skip to the content
      </a>
      <header>
        <a class="brand" href="#/pools">
          <Mark />
          <span>Jackpots</span>
        </a>
        <Navigation section={view.section} session={session} />
        <div class="me">
          <p>
            <strong>{session.name}</strong>
            <span class="role">{readableId(session.role)}</span>
          </p>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main">
        <ConnectionLost />
        <Announcements />
        <h1 ref={title} tabIndex={-1}>
          {view.title}
        </h1>
        {view.show(session)}
      </main>
    </div>
  );
}

function Navigation({ section, session }: { section: string; session: Session }) {
  const changes = useLive((live) => live.changes);
  const held = useQuery<{ claims: Claim[] }>("/claims?state=held", changes.claims).data?.claims.length;
  const open = useQuery<{ proposals: Proposal[] }>("/proposals?state=open", changes.proposals).data?.proposals.filter(
    (each) => each.state === "open",
  ).length;
  const waiting = useQuery<{ notices: Notice[] }>("/notices?acknowledged=false", changes.notices).data?.notices.length;
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
            <a href={`#/${id}`} {...(id === section ? { "aria-current": "page" as const } : {})}>
              {words}
              {!!count && (
                <span class="count">
                  {count >= 100 ? "99+" : count}
                  <span class="visually-hidden"> {what}</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

// For screen readers: announces each new task once, and not every amount.
function Announcements() {
  const words = useLive((live) =>
    Object.values(live.readings)
      .filter((each) => each.held || each.pending || each.fault)
      .map((each) => `${each.pool}: ${each.fault ? "displays show a fault" : each.held ? "held for a ruling" : "a jackpot is locked"}.`)
      .join(" "),
  );
  return (
    <p class="visually-hidden" role="status">
      {words}
    </p>
  );
}

// Shown while the controller cannot be reached.
function ConnectionLost() {
  const connected = useLive((live) => live.connected);
  const since = useLive((live) => live.since);
  return (
    <div class="reached" role="status">
      {connected === false && (
        <p>
          <strong>The controller cannot be reached</strong> since {timeText(since)}. This page shows the state of that time and tries
          again every second.
        </p>
      )}
    </div>
  );
}
