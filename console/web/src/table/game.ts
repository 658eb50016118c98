// A demo table as the API describes it, and the games as far as this page needs them. The controller decides who wins.

export type ClaimState = "claimed" | "locked" | "held" | "due" | "final";

export interface Wagered {
  seat: number;
  tier?: string;
  claim?: ClaimState;
}

export interface Round {
  number: number;
  result_in: boolean;
  voided: boolean;
  closed: boolean;
  confirmed: boolean;
  wagered: Wagered[];
  board?: string[];
  hands?: { seat: number; cards: string[] }[];
}

export interface Award {
  round: number;
  seat: number;
  tier: string;
  cents: number;
  rule: string;
  arithmetic: string;
  player?: string; // the pseudonym of the player card
  state: "locked" | "due" | "paid" | "withheld" | "withdrawn"; // "paid": a payment is recorded, of jackpots only
}

export interface TableView {
  table: string;
  game: "blazing7s" | "uth";
  seats: number;
  require_player_card: boolean;
  wager_cents: number;
  floor: string[];
  suspended: boolean;
  suspended_by_desk: boolean;
  link: { online: boolean; takes_wagers: boolean; undecided: number; why?: string; stopped_by?: string };
  pool: { pool: string; displayed_cents: number; open: boolean; held: boolean; unavailable: boolean };
  next_round: number;
  round?: Round;
  claims: { round: number; seat: number; tier: string; state: ClaimState }[]; // also of earlier rounds whose win is open
  awards: Award[];
  refunds: { round: number; seat: number; cents: number }[];
}

// The phase of the round. `cleared` is the last round whose cards the dealer has removed.
export type Phase = "bet" | "deal" | "press" | "wait" | "over";

export function phaseOf({ round }: TableView, cleared: number): Phase {
  if (!round || round.closed || round.number <= cleared) return "bet";
  if (round.voided) return "over";
  if (!round.result_in) return "deal";
  if (round.wagered.some((each) => each.claim === "claimed")) return "press";
  return round.wagered.some((each) => each.claim === "locked" || each.claim === "held") ? "wait" : "over";
}

// The grounds that a table may give for a void, with their rules. Others take two people, and the desk.
export const kVoidGrounds: { id: string; words: string; rule: Record<TableView["game"], string> }[] = [
  { id: "dealing_error", words: "Dealing error", rule: { blazing7s: "BJ 16.8", uth: "UTH 11.1 to 11.6" } },
  { id: "missing_or_foreign_card", words: "Missing or foreign card", rule: { blazing7s: "BJ 16.16", uth: "UTH 11.7" } },
  { id: "shuffling_device", words: "Shuffling device", rule: { blazing7s: "BJ 17.4", uth: "UTH 12.2" } },
];

export const kRanks = "A23456789TJQK";
export const kSuits = "SHDC";

const kRankNames: Record<string, string> = {
  A: "ace", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
  "8": "eight", "9": "nine", T: "ten", J: "jack", Q: "queen", K: "king",
};
const kSuitNames: Record<string, string> = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
export const kSuitSigns: Record<string, string> = { S: "♠", H: "♥", D: "♦", C: "♣" };

export const cardName = (card: string) => `${kRankNames[card[0]!]} of ${kSuitNames[card[1]!]}`;
export const cardSign = (card: string) => `${card[0] === "T" ? "10" : card[0]}${kSuitSigns[card[1]!]}`;
export const isRed = (card: string) => card[1] === "H" || card[1] === "D";

const kTiers: Record<string, string> = {
  three_sevens_diamonds: "Three sevens of diamonds",
  three_suited_sevens: "Three suited sevens",
  three_same_colour_sevens: "Three sevens of one colour",
  three_sevens: "Three sevens",
  two_player_sevens: "Two sevens",
  one_each_sevens: "A seven each",
  royal_flush: "Royal flush",
  straight_flush: "Straight flush",
  four_of_a_kind: "Four of a kind",
  full_house: "Full house",
  flush: "Flush",
  bonus: "Bonus",
};
export const tierName = (tier: string) => kTiers[tier] ?? tier;

export interface Win {
  label: string;
  pays: string;
  board: string;
  hand: string;
}

export interface Game {
  name: string;
  decks: number;
  boardName: string;
  boardSlots: string[]; // what each is called
  wins: Win[];
}

export const kGames: Record<TableView["game"], Game> = {
  blazing7s: {
    name: "Blazing 7’s",
    decks: 6,
    boardName: "Dealer’s first card",
    boardSlots: ["Dealer’s first card"],
    wins: [
      { label: "Three 7♦", pays: "100 %", board: "7D", hand: "7D 7D" },
      { label: "Three 7♠", pays: "10 %", board: "7S", hand: "7S 7S" },
      { label: "One colour", pays: "fixed", board: "7H", hand: "7D 7H" },
      { label: "Two sevens", pays: "fixed", board: "KS", hand: "7C 7H" },
    ],
  },
  uth: {
    name: "Ultimate Texas Hold’em",
    decks: 1,
    boardName: "Flop",
    boardSlots: ["Flop, first card", "Flop, second card", "Flop, third card"],
    wins: [
      { label: "Royal flush", pays: "100 %", board: "AS KS QS", hand: "JS TS" },
      { label: "Straight flush", pays: "10 %", board: "9H 8H 7H", hand: "6H 5H" },
      { label: "Four of a kind", pays: "fixed", board: "8C 8D 8H", hand: "8S KD" },
      { label: "Full house", pays: "fixed", board: "QC QD 4H", hand: "QS 4C" },
    ],
  },
};

// Cards by slot: "board-0", or "3-1" for the second card of seat 3.
export type Cards = Record<string, string>;

export const boardKey = (at: number) => `board-${at}`;
export const handKey = (seat: number, at: number) => `${seat}-${at}`;

// In the order in which they are dealt: hands from seat 1, then the board.
export function slotsOf(game: Game, seats: number[]): string[] {
  const hands = seats.flatMap((seat) => [handKey(seat, 0), handKey(seat, 1)]);
  return [...hands, ...game.boardSlots.map((_, at) => boardKey(at))];
}

export function cardsOf(round: Round | undefined): Cards {
  const cards: Cards = {};
  round?.board?.forEach((card, at) => (cards[boardKey(at)] = card));
  round?.hands?.forEach(({ seat, cards: hand }) => hand.forEach((card, at) => (cards[handKey(seat, at)] = card)));
  return cards;
}

export const countOf = (cards: Cards, card: string) => Object.values(cards).filter((each) => each === card).length;

// Fills the empty slots from a shuffled shoe. It leaves out the cards that most easily win by chance, so that a
// demonstration shows the chosen win only.
export function filledUp(game: Game, slots: string[], cards: Cards): Cards {
  const filled = { ...cards };
  const suits = new Set(Object.entries(cards).map(([, card]) => card[1]));
  const rest: string[] = [];
  for (const rank of kRanks)
    for (const suit of kSuits) {
      if (rank === "7" || (suits.size === 1 && suits.has(suit))) continue;
      for (let left = game.decks - countOf(cards, rank + suit); left > 0; --left) rest.push(rank + suit);
    }
  for (const slot of slots)
    if (!filled[slot]) filled[slot] = rest.splice(Math.floor(Math.random() * rest.length), 1)[0]!;
  return filled;
}

export function winning(game: Game, win: Win, slots: string[], seat: number): Cards {
  const cards: Cards = {};
  win.board.split(" ").forEach((card, at) => (cards[boardKey(at)] = card));
  win.hand.split(" ").forEach((card, at) => (cards[handKey(seat, at)] = card));
  return filledUp(game, slots, cards);
}

export interface Result {
  round: number;
  board: string[];
  hands: { seat: number; cards: string[] }[];
}

// The result to report, or a text about what is missing. A seat without cards did not qualify.
export function resultOf(game: Game, round: Round, cards: Cards) {
  const board = game.boardSlots.map((_, at) => cards[boardKey(at)] ?? "");
  if (board.includes("")) return { missing: `${game.boardName}: enter ${board.length > 1 ? "all its cards" : "the card"} first.` };
  const hands = [];
  for (const { seat } of round.wagered) {
    const hand = [cards[handKey(seat, 0)], cards[handKey(seat, 1)]].filter((each) => each !== undefined);
    if (hand.length === 1) return { missing: `Seat ${seat} has one card only: enter the second card or remove the first.` };
    if (hand.length === 2) hands.push({ seat, cards: hand });
  }
  return { result: { round: round.number, board, hands } };
}
