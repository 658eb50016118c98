// The grounds of voids and suspensions, each with its rule in Blackjack and in Ultimate Texas Hold'em, and what it does. The
// controller decides by the ground.
import type { Field } from "./act";

export interface Ground {
  id: string;
  words: string;
  rule: { blazing7s: string; uth?: string };
  effect: { blazing7s: string; uth: string };
}

const same = (words: string) => ({ blazing7s: words, uth: words });
const kAllReturned = "All awards of the round are withdrawn, and all wagers returned";
const kInterim = "Fixed awards that are due stand; all other wagers are returned";

export const kVoidRoundGrounds: Ground[] = [
  {
    id: "dealing_error",
    words: "Dealing error",
    rule: { blazing7s: "BJ 16.8", uth: "UTH 11.1 to 11.6" },
    effect: { blazing7s: kInterim, uth: kAllReturned },
  },
  {
    id: "missing_or_foreign_card",
    words: "Missing or foreign card",
    rule: { blazing7s: "BJ 16.16", uth: "UTH 11.7" },
    effect: {
      blazing7s: `${kInterim}. Surveillance and an inspector are notified`,
      uth: `${kAllReturned}. Surveillance and an inspector are notified`,
    },
  },
  {
    id: "shuffling_device",
    words: "Shuffling device",
    rule: { blazing7s: "BJ 17.4", uth: "UTH 12.2" },
    effect: same(kAllReturned),
  },
  {
    id: "invalidated",
    words: "Invalidated",
    rule: { blazing7s: "BJ 18.9, 18.10", uth: "UTH 13.9, 13.10" },
    effect: same(`${kAllReturned}, except those of forfeited seats. It takes two people`),
  },
];

const kWagerReturned = "The wager is returned, and the seat’s awards are withdrawn";

export const kVoidWagerGrounds: Ground[] = [
  {
    id: "invalid_wager",
    words: "Invalid wager or winner",
    rule: { blazing7s: "BJ 16.22, 18.1", uth: "UTH 11.16, 13.1" },
    effect: same(kWagerReturned),
  },
  { id: "loss_limit", words: "Loss limit", rule: { blazing7s: "BJ 16.23", uth: "UTH 11.17" }, effect: same(kWagerReturned) },
  {
    id: "prohibited_device",
    words: "Prohibited device",
    rule: { blazing7s: "BJ 18.8", uth: "UTH 13.8" },
    effect: same(kWagerReturned),
  },
  {
    id: "refused",
    words: "Refused wager",
    rule: { blazing7s: "BJ 18.16", uth: "UTH 13.16" },
    effect: same("The wager is returned. Only before the result"),
  },
];

export const kSuspensionGrounds: Ground[] = [
  {
    id: "malfunction",
    words: "Malfunction",
    rule: { blazing7s: "BJ 16.18", uth: "UTH 11.11" },
    effect: same("Play goes on without the jackpot; a round without a result is void"),
  },
  { id: "closed", words: "Table closed", rule: { blazing7s: "BJ 18.13" }, effect: same("Only between rounds") },
  { id: "tournament", words: "Tournament", rule: { blazing7s: "BJ 19" }, effect: same("Only between rounds") },
];

const gameOf = (game: string) => (game === "uth" ? "uth" : "blazing7s");
const ruleOf = (ground: Ground, game: string) => ground.rule[gameOf(game)] ?? ground.rule.blazing7s;

// A list to choose from. `chosen` is the id of the present choice, whose effect is shown below the list.
export function groundField(grounds: Ground[], game: string, chosen?: string, onChange?: (id: string) => void): Field {
  const ground = grounds.find((each) => each.id === chosen);
  return {
    name: "ground",
    label: "Ground",
    type: "select",
    options: grounds.map((each) => [each.id, `${each.words} (${ruleOf(each, game)})`]),
    ...(ground ? { value: ground.id, hint: `${ground.effect[gameOf(game)]}.` } : {}),
    ...(onChange ? { onChange } : {}),
  };
}

// The fields that a person filled in.
export const withoutEmpty = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value));
