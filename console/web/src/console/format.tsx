// Texts, times, cards and states as the console shows them.
import type { ApiError } from "../lib/api";

const kSuits: Record<string, [string, string]> = {
  H: ["♥", "hearts"],
  D: ["♦", "diamonds"],
  C: ["♣", "clubs"],
  S: ["♠", "spades"],
};

export const readableId = (id: string) => {
  const words = id.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const sentence = (text: string) => {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
};

// What to do next, for errors whose message does not say it.
const kNext: Record<string, string> = {
  preview_outdated: "The rulings below are up to date; choose again.",
  not_what_was_proposed: "The proposal below is up to date; read it again.",
  same_person: "Someone else has to be the second person.",
  role_not_allowed: "Someone with another role can do it.",
  not_for_you: "Someone with another role can do it.",
  csrf_token_missing: "Sign out and in again.",
  unavailable: "Try again in a moment.",
};

export const errorText = (error: ApiError) => {
  const next = kNext[error.code];
  return sentence(error.message) + (next ? ` ${next}` : "");
};

// The reasons for which a win is held, as in rules: BJ 14.27.4.
const kHeldFor: Record<string, string> = {
  tie: "another table’s button was pressed at nearly the same time",
  out_of_order: "it was pressed before another table’s press that arrived earlier",
  impossible: "by its age it was pressed before its round was opened, so the time of the press is not known",
  offline: "another table was offline with an open round when it would have been due",
};
export const heldForText = (reasons: string[] | undefined) =>
  sentence(reasons?.length ? reasons.map((each) => kHeldFor[each] ?? readableId(each)).join("; ") : "the reason was removed by a void or a correction");

export const claimPath = (table: string, round: number) => `#/claims/${encodeURIComponent(table)}/${round}`;

export const games: Record<string, string> = { blazing7s: "Blazing 7’s", uth: "Ultimate Texas Hold’em" };

const moment = new Intl.DateTimeFormat("en-GB", {
  day: "2-digit",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
export const timeText = (utc: string | Date) => moment.format(new Date(utc));

export const Time = ({ utc }: { utc: string }) => (
  <time dateTime={utc} title={utc}>
    {timeText(utc)}
  </time>
);

export function Cards({ text }: { text: string }) {
  if (!text) return <span>not shown</span>;
  return (
    <span class="cards">
      {text.split(" ").map((card, place) => {
        const suit = kSuits[card.slice(-1)];
        const red = suit && (suit[1] === "hearts" || suit[1] === "diamonds");
        return (
          <span key={place} class={red ? "card red" : "card"} role="img" aria-label={`${card.slice(0, -1)} of ${suit?.[1] ?? "?"}`}>
            {card.slice(0, -1)}
            {suit?.[0]}
          </span>
        );
      })}
    </span>
  );
}

const kTones: Record<string, string> = {
  open: "good",
  online: "good",
  paid: "good",
  done: "good",
  held: "warn",
  locked: "warn",
  claimed: "warn",
  due: "warn",
  closed: "plain",
  tournament: "plain",
  suspended: "bad",
  offline: "bad",
  fault: "bad",
  silent: "bad",
  refused: "bad",
  withheld: "bad",
};

export const State = ({ state, words }: { state: string; words?: string }) => (
  <span class={`state ${kTones[state] ?? "plain"}`}>{words ?? readableId(state)}</span>
);
