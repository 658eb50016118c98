// What the page knows of the controller without asking: whether it can be reached, what displays show, which records
// have come. Views ask the API again when what they show has changed, and never more often than people can read.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";

import { Refused, get, getByItself } from "../lib/api";
import { listen } from "../lib/feed";
import type { Shown } from "./types";

const kRenderMs = 250;
const kAskMs = 700;
const kTouchMs = 5000;

// What is asked while nobody touches the page does not keep the session alive.
let touched = Date.now();
for (const each of ["pointerdown", "keydown"]) addEventListener(each, () => (touched = Date.now()), { capture: true, passive: true });
const isTouched = () => Date.now() - touched < kTouchMs;

// One more than the last record, and than the last that changed each of these.
export interface Changes {
  records: number;
  claims: number;
  notices: number;
  proposals: number;
}

export interface Live {
  // Undefined until the first connection.
  reached: boolean | undefined;
  since: Date;
  // Grows with each connection: everything is asked for again.
  connections: number;
  changes: Changes;
  shown: Record<string, Shown>;
}

const nothing = (): Live => ({
  reached: undefined,
  since: new Date(),
  connections: 0,
  changes: { records: 0, claims: 0, notices: 0, proposals: 0 },
  shown: {},
});

let live = nothing();
let due: number | undefined;
const watchers = new Set<() => void>();

function set(change: Partial<Live>) {
  live = { ...live, ...change };
  due ??= setTimeout(() => {
    due = undefined;
    for (const each of watchers) each();
  }, kRenderMs);
}

// Of what is picked, and again only when that differs.
export function useLive<T>(pick: (live: Live) => T): T {
  const [, again] = useReducer<number, void>((n) => n + 1, 0);
  const picked = pick(live);
  const last = useRef(picked);
  last.current = picked;
  useEffect(() => {
    const look = () => {
      if (pick(live) !== last.current) again();
    };
    watchers.add(look);
    return () => void watchers.delete(look);
  }, []);
  return picked;
}

// Listens until the function that it gives is called. A feed that ends may have ended with its session: the API knows.
export function beLive(): () => void {
  live = nothing();
  const feed = listen(
    "/feed",
    {
      pool: (shown: Shown) => set({ shown: { ...live.shown, [shown.pool]: shown } }),
      changed: (changes: Changes) => set({ changes }),
    },
    (reached) => {
      if (reached) set({ reached, since: new Date(), connections: live.connections + 1 });
      else {
        if (live.reached !== false) set({ reached, since: new Date() });
        getByItself("/session").catch(() => {});
      }
    },
  );
  return () => feed.close();
}

export const isReached = () => live.reached !== false;

export interface Asked<T> {
  data: T | undefined;
  refused: Refused | undefined;
  again: () => void;
}

// The answer to a GET, asked again when `version` differs. What is there stays until the next answer comes.
export function useAsked<T>(path: string | undefined, version: number): Asked<T> {
  const [answer, setAnswer] = useState<{ path: string | undefined; data?: T; refused?: Refused }>({ path: undefined });
  const connections = useLive((now) => now.connections);
  const state = useRef({ path: undefined as string | undefined, at: 0, timer: 0, latest: 0 });

  const ask = () => {
    const mine = state.current;
    clearTimeout(mine.timer);
    mine.timer = 0;
    mine.at = Date.now();
    const number = ++mine.latest;
    const asked = mine.path;
    if (asked === undefined) return;
    (isTouched() ? get : getByItself)<T>(asked).then(
      (data) => number === mine.latest && setAnswer({ path: asked, data }),
      (refused: Refused) =>
        number === mine.latest &&
        setAnswer((before) => ({
          path: asked,
          // Unreachable says the page as a whole.
          ...(before.path === asked && before.data !== undefined && refused.status === 0
            ? { data: before.data }
            : { refused }),
        })),
    );
  };

  useEffect(() => {
    const mine = state.current;
    if (mine.path !== path) {
      mine.path = path;
      ask();
      return;
    }
    const wait = mine.at + kAskMs - Date.now();
    if (mine.timer) return;
    mine.timer = setTimeout(ask, Math.max(wait, 0));
  }, [path, version, connections]);
  useEffect(
    () => () => {
      clearTimeout(state.current.timer);
      state.current.latest++;
    },
    [],
  );

  const mine = answer.path === path ? answer : undefined;
  return { data: mine?.data ?? (answer.data as T | undefined), refused: mine?.refused, again: ask };
}
