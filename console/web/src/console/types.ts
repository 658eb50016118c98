// Answers of the API, with the fields that the console reads. Amounts are strings: see lib/money.ts.

export type Role = "supervisor" | "surveillance" | "auditor" | "inspector" | "administrator";

export interface Session {
  name: string;
  role: Role;
  csrf: string;
  must_change_password: boolean;
}

// A confirmed jackpot that can still change.
export interface OpenWin {
  table: string;
  round: number;
  state: "locked" | "held" | "due";
  hold?: number;
  held_for?: string[];
  due_utc?: string; // of one that is locked
  confirmed_utc: string;
  pressed_utc: string;
}

export interface TierAmounts {
  royal_flush?: string;
  straight_flush?: string;
}

export interface Parameters {
  increment: string;
  reserve_increment: string;
  minimum: string;
  cap?: string | null;
  payout_unit: string;
  simultaneity_window_ms?: number;
  settle_after_ms?: number;
  bonus?: TierAmounts | null;
  guarantee?: TierAmounts | null;
}

export interface Pool {
  pool: string;
  game: string;
  suspended: boolean;
  displayed: string;
  meter: string;
  reserve: string;
  wager: string;
  parameters: Parameters;
  next_in_words?: string;
  wins: OpenWin[];
  tables: string[];
  last_win?: { amount: string; tier: string; table: string; utc: string };
}

// An event of the feed: a pool as displays show it.
export interface PoolReading {
  pool: string;
  displayed_cents: number;
  open: boolean;
  pending: boolean;
  held: boolean;
  fault: boolean;
}

export interface Amount {
  record: number;
  utc: string;
  before?: string;
  displayed: string;
}

export interface Wager {
  seat: number;
  player?: string;
  tier?: string;
  claims: boolean;
}

export interface Round {
  round: number;
  open: boolean;
  result_in: boolean;
  voided: boolean;
  closed: boolean;
  confirmed: boolean;
  final: boolean;
  wagers: Wager[];
}

export interface TableAward {
  round: number;
  seat: number;
  tier: string;
  amount: string;
  state: AwardState;
  paid: string;
  payments: number;
}

export interface Suspension {
  ground?: string;
  from: "desk" | "table";
  reason?: string;
  by: string[];
  record: number;
  utc: string;
}

export interface Table {
  table: string;
  pool: string;
  seats: number;
  suspended: boolean;
  suspension?: Suspension;
  offline: boolean;
  round?: Round;
  earlier: Round[]; // whose win is open
  awards: TableAward[];
}

export interface Meter {
  meter: string;
  pool: string;
  tables: string[];
  amount: string;
  silent: boolean;
  unit?: number;
  last_read_ms_ago?: number;
  driven_over?: string;
  answers?: boolean;
  last_write_ms_ago?: number;
  last_error?: string;
}

export interface Claim {
  id: number;
  pool: string;
  table: string;
  round: number;
  seat: number;
  tier: string;
  state: "claimed" | "locked" | "held" | "due" | "final" | "dropped";
  held_for?: string[];
  board: string;
  cards: string;
  player?: string;
  claimed_record: number;
  claimed_utc: string;
  confirmed_utc?: string;
  pressed_utc?: string;
  changed_record: number;
  // Of its award, once there is one; `difference` after a payment.
  amount?: string;
  award_state?: AwardState;
  paid?: string;
  difference?: string;
}

export type AwardState = "locked" | "due" | "withheld" | "withdrawn";

export interface Payment {
  record: number;
  utc: string;
  paid: string;
  due: string;
  sum: string;
  difference: string;
  rectification: boolean;
  how: string;
  by: string[];
}

export interface Award {
  record: number;
  place: number;
  table: string;
  round: number;
  seat: number;
  tier: string;
  player?: string;
  amount: string;
  rule: string;
  arithmetic: string;
  state: AwardState;
  state_record?: number;
  state_reason?: string;
  state_by?: string[];
  due: string;
  paid: string;
  difference?: string;
  payments: Payment[];
  earlier: { record: number; amount: string; withdrawn_record: number; withdrawn_utc: string }[];
}

export interface ClaimedRound {
  claims: Claim[];
  awards: Award[];
  payments_without_award: { seat: number; due: string; paid: string; difference: string; payments: Payment[] }[];
  refunds: { record: number; utc: string; seat: number; amount: string }[];
}

export interface RoundRef {
  table: string;
  round: number;
}

// An award as a ruling would make, withdraw or change it.
export interface PreviewAward extends RoundRef {
  seat: number;
  tier: string;
  amount: string;
  rule?: string;
  arithmetic?: string;
}

export interface Preview {
  order: RoundRef[][];
  words: string;
  awards: PreviewAward[];
  withdrawn: PreviewAward[];
  locked: PreviewAward[];
  meter_after: string;
  displayed_after: string;
  reserve_after: string;
  token: string;
}

// Rounds that wait for one ruling together.
export interface Hold {
  hold: number;
  held_for: string[];
  rounds: RoundRef[];
  all_rulings: boolean;
  previews: Preview[];
}

export interface Rulings {
  pool: string;
  holds: Hold[];
}

export interface Proposal {
  proposal: number;
  state: string;
  made_utc: string;
  expires_utc: string;
  by: string;
  reason: string;
  words: string;
  proposed: string;
  sha256: string;
  closed_by?: string;
  remark?: string;
  closed_record?: number;
  outcome_record?: number;
}

export interface Notice {
  notice: string;
  record: number;
  utc: string;
  kind: string;
  to: Role[];
  rule: string;
  text: string;
  delivery?: string;
  acknowledged: boolean;
  acknowledged_by?: string;
  acknowledged_utc?: string;
  remark?: string;
}

export interface JournalRecord {
  record: number;
  utc: string;
  kind: string;
  pool?: string;
  table?: string;
  round?: number;
  who?: string;
  refused: boolean;
}

export interface Person {
  name: string;
  role: Role;
  certificate: string;
  disabled: boolean;
  must_change_password: boolean;
  locked_for_s: number;
}
