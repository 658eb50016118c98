// State that the feed keeps up to date: whether the controller is connected, the pools as displays show them, and the
// numbers of the last records. Views query the API again when their data has changed, at most once in kMinQueryIntervalMs.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";

import { ApiError, get, getInBackground } from "../lib/api";
import { openFeed } from "../lib/feed";
import type { PoolReading } from "./types";

const kRenderMs = 250;
const kMinQueryIntervalMs = 700;
const kActivityMs = 5000;

// A query without recent input of a person does not keep the session alive.
let lastInputAt = Date.now();
for (const each of ["pointerdown", "keydown"]) addEventListener(each, () => (lastInputAt = Date.now()), { capture: true, passive: true });
const isActive = () => Date.now() - lastInputAt < kActivityMs;

// One more than the last record, and one more than the last record that changed claims, notices or proposals.
export interface Changes {
  records: number;
  claims: number;
  notices: number;
  proposals: number;
}

export interface Live {
  // Undefined until the first connection.
  connected: boolean | undefined;
  since: Date;
  // Counts connections: after each, every view queries again.
  connections: number;
  changes: Changes;
  readings: Record<string, PoolReading>;
}

const nothing = (): Live => ({
  connected: undefined,
  since: new Date(),
  connections: 0,
  changes: { records: 0, claims: 0, notices: 0, proposals: 0 },
  readings: {},
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

// The value that `pick` returns; renders again only when it changes.
export function useLive<T>(pick: (live: Live) => T): T {
  const [, again] = useReducer<number, void>((n) => n + 1, 0);
  const picked = pick(live);
  const last = useRef(picked);
  last.current = picked;
  useEffect(() => {
    const check = () => {
      if (pick(live) !== last.current) again();
    };
    watchers.add(check);
    return () => void watchers.delete(check);
  }, []);
  return picked;
}

// Opens the feed; the returned function closes it. When the feed ends, query the session: it may have ended too.
export function connectFeed(): () => void {
  live = nothing();
  const feed = openFeed(
    "/feed",
    {
      pool: (reading: PoolReading) => set({ readings: { ...live.readings, [reading.pool]: reading } }),
      changed: (changes: Changes) => set({ changes }),
    },
    (connected) => {
      if (connected) set({ connected, since: new Date(), connections: live.connections + 1 });
      else {
        if (live.connected !== false) set({ connected, since: new Date() });
        getInBackground("/session").catch(() => {});
      }
    },
  );
  return () => feed.close();
}

export const isConnected = () => live.connected !== false;

export interface QueryResult<T> {
  data: T | undefined;
  error: ApiError | undefined;
  reload: () => void;
}

// The answer to a GET, queried again when `version` changes. The last data stays until the next answer arrives.
export function useQuery<T>(path: string | undefined, version: number): QueryResult<T> {
  const [answer, setAnswer] = useState<{ path: string | undefined; data?: T; error?: ApiError }>({ path: undefined });
  const connections = useLive((now) => now.connections);
  const state = useRef({ path: undefined as string | undefined, at: 0, timer: 0, latest: 0 });

  const query = () => {
    const mine = state.current;
    clearTimeout(mine.timer);
    mine.timer = 0;
    mine.at = Date.now();
    const number = ++mine.latest;
    const queried = mine.path;
    if (queried === undefined) return;
    (isActive() ? get : getInBackground)<T>(queried).then(
      (data) => number === mine.latest && setAnswer({ path: queried, data }),
      (error: ApiError) =>
        number === mine.latest &&
        setAnswer((before) => ({
          path: queried,
          // The page shows once, above all views, that the controller cannot be reached.
          ...(before.path === queried && before.data !== undefined && error.status === 0
            ? { data: before.data }
            : { error }),
        })),
    );
  };

  useEffect(() => {
    const mine = state.current;
    if (mine.path !== path) {
      mine.path = path;
      query();
      return;
    }
    const wait = mine.at + kMinQueryIntervalMs - Date.now();
    if (mine.timer) return;
    mine.timer = setTimeout(query, Math.max(wait, 0));
  }, [path, version, connections]);
  useEffect(
    () => () => {
      clearTimeout(state.current.timer);
      state.current.latest++;
    },
    [],
  );

  const mine = answer.path === path ? answer : undefined;
  return { data: mine?.data ?? (answer.data as T | undefined), error: mine?.error, reload: query };
}
