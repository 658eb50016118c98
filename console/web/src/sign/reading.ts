// What a pool's sign is told, and what is to be shown of it.

export interface Win {
  table: string;
  cents: number;
  percent: number;
  at: number;
  shown: boolean;
}

export interface Reading {
  pool: string;
  displayed_cents: number;
  changes: number; // rises with each change of the amount while the daemon runs
  open: boolean;
  pending: boolean;
  held: boolean;
  fault: boolean;
  won?: Win;
}

export type Condition =
  | "connecting"
  | "unknown" // there is no such pool
  | "open"
  | "closed"
  | "confirming"
  | "won"
  | "outdated" // the amount was right a moment ago
  | "lost"; // nobody knows what is right

// An amount that cannot be trusted stands for so long, and says so; then it goes.
export const kOutdatedMs = 15_000;

// `untrustedMs`: since when nothing was heard that can be trusted; 0 where the last was.
export function conditionOf(reading: Reading | undefined, untrustedMs: number): Condition {
  if (untrustedMs >= kOutdatedMs) return "lost";
  if (!reading) return "connecting";
  if (untrustedMs > 0) return "outdated";
  if (reading.won?.shown) return "won";
  // Why it is held is between the tables and Surveillance.
  if (reading.pending || reading.held) return "confirming";
  return reading.open ? "open" : "closed";
}

const isSameWin = (one: Win | undefined, other: Win | undefined) =>
  one?.at === other?.at && one?.table === other?.table && one?.cents === other?.cents;

// The amount fell, and nobody has won it.
export const isCorrection = (before: Reading, after: Reading) =>
  after.displayed_cents < before.displayed_cents && isSameWin(before.won, after.won);

// An answer and the feed may overtake each other; the counter is of 32 bits and may begin again.
export const isOlder = (reading: Reading, than: Reading) => ((reading.changes - than.changes) | 0) < 0;
