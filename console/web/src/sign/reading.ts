// A pool as its sign receives it, and the condition that the sign shows.

export interface Win {
  table: string;
  cents: number;
  percent: number;
  at: number;
  shown: boolean;
}

// A win that has taken its money and is not due yet.
export interface LockedWin {
  table: string;
  cents: number;
}

export interface Reading {
  pool: string;
  displayed_cents: number;
  changes: number; // rises with each change of the amount while the daemon runs
  open: boolean;
  pending: boolean; // a win is locked and waits for its time
  held: boolean; // a win waits for a ruling
  fault: boolean;
  locked?: LockedWin; // the newest one that waits for its time
  won?: Win;
}

export type Condition =
  | "connecting"
  | "unknown" // no pool of this name
  | "open"
  | "closed"
  | "confirming" // a win is locked
  | "held" // a win waits for a ruling
  | "won"
  | "outdated" // the amount was right until a few seconds ago
  | "lost"; // the amount is unknown

// An outdated amount stays on the sign for this time, marked as outdated; then the sign removes it.
export const kOutdatedMs = 15_000;

// `untrustedMs`: time since the last reading that can be trusted; 0 if the latest reading can be trusted.
export function conditionOf(reading: Reading | undefined, untrustedMs: number): Condition {
  if (untrustedMs >= kOutdatedMs) return "lost";
  if (!reading) return "connecting";
  if (untrustedMs > 0) return "outdated";
  if (reading.won?.shown) return "won";
  if (reading.held) return "held";
  if (reading.pending) return "confirming";
  return reading.open ? "open" : "closed";
}

const isSameWin = (one: Win | undefined, other: Win | undefined) =>
  one?.at === other?.at && one?.table === other?.table && one?.cents === other?.cents;

// The amount fell, and no win has taken the money: neither one that is due nor one that is locked or held.
export const isCorrection = (before: Reading, after: Reading) =>
  after.displayed_cents < before.displayed_cents && isSameWin(before.won, after.won) && !after.pending && !after.held;

// An answer of the API and an event of the feed can overtake each other. The counter has 32 bits and can wrap around.
export const isOlder = (reading: Reading, than: Reading) => ((reading.changes - than.changes) | 0) < 0;
