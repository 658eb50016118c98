// Answers of the API, with the fields that the console reads. Amounts are strings: see lib/money.ts.

export type Role = "supervisor" | "surveillance" | "auditor" | "inspector" | "administrator";

export interface Session {
  name: string;
  role: Role;
  csrf: string;
  must_change_password: boolean;
}

export interface Confirmation {
  table: string;
  round: number;
  state: "pending" | "held";
  held_for?: string;
  pressed_utc: string;
}

export interface Parameters {
  increment: string;
  reserve_increment: string;
  minimum: string;
  cap: string | null;
  payout_unit: string;
  simultaneity_window_ms: number;
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
  confirmations: Confirmation[];
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

export interface Due {
  round: number;
  seat: number;
  tier: string;
  amount: string;
  state: "due" | "paid" | "withheld";
}

export interface Round {
  round: number;
  result_in: boolean;
  voided: boolean;
  confirmed: boolean;
  settled: boolean;
  wagers: number[];
}

export interface Table {
  table: string;
  pool: string;
  seats: number;
  suspended: boolean;
  offline: boolean;
  round?: Round;
  due: Due[];
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
  state: string;
  board: string;
  cards: string;
  claimed_record: number;
  claimed_utc: string;
  confirmed_utc?: string;
  pressed_utc?: string;
  changed_record: number;
}

export interface Award {
  record?: number;
  place: number;
  table: string;
  round: number;
  seat: number;
  tier: string;
  form?: string;
  amount: string;
  rule: string;
  arithmetic: string;
  state?: string;
  state_record?: number;
  payment?: { paid: string; difference: string; how: string; by: string };
}

export interface RoundRef {
  table: string;
  round: number;
}

export interface Preview {
  order: RoundRef[][];
  words: string;
  awards: Award[];
  meter_after: string;
  displayed_after: string;
  reserve_after: string;
  token: string;
}

export interface Rulings {
  pool: string;
  held: RoundRef[];
  all_rulings: boolean;
  previews: Preview[];
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
  whom: string;
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
