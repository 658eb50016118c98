// A pool as its sign receives it, and the condition that the sign shows.

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
  | "unknown" // no pool of this name
  | "open"
  | "closed"
  | "confirming"
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
  // The public sign does not show that a claim is held for Surveillance.
  if (reading.pending || reading.held) return "confirming";
  return reading.open ? "open" : "closed";
}

const isSameWin = (one: Win | undefined, other: Win | undefined) =>
  one?.at === other?.at && one?.table === other?.table && one?.cents === other?.cents;

// The amount fell without a win.
export const isCorrection = (before: Reading, after: Reading) =>
  after.displayed_cents < before.displayed_cents && isSameWin(before.won, after.won);

// An answer of the API and an event of the feed can overtake each other. The counter has 32 bits and can wrap around.
export const isOlder = (reading: Reading, than: Reading) => ((reading.changes - than.changes) | 0) < 0;
