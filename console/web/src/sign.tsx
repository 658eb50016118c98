// The wall sign: /sign/POOL, for anyone to look at.
import { render } from "preact";
import { dollars } from "./lib/money";
import { Drums } from "./sign/drums";
import { Odometer } from "./sign/odometer";
import { type Reading, type Win, conditionOf, isCorrection } from "./sign/reading";
import { watchPool } from "./sign/watch";
import { type Said, kLanguages, kTag, kWords } from "./sign/words";
import "./sign/sign.css";

const kCorrectedMs = 10_000; // so long is it said
const kSpokenEveryMs = 30_000;
const kCursorMs = 3000;

const pool = decodeURIComponent(location.pathname.split("/").pop()!);
const asked = new URLSearchParams(location.search);
const languages = kLanguages.filter((each) => each === asked.get("lang"));
if (languages.length === 0) languages.push(...kLanguages);

// ---- what is known

const odometer = new Odometer();
let reading: Reading | undefined;
let isUnknown = false;
let untrustedSince: number | undefined = performance.now();
let correctedAt = -kCorrectedMs;
let spoken = { cents: -1, at: -kSpokenEveryMs };

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

function take(next: Reading) {
  const now = performance.now();
  if (reading && isCorrection(reading, next)) correctedAt = now;
  odometer.take(next.displayed_cents, now, !reading || stillness.matches);
  reading = next;
  isUnknown = false;
  untrustedSince = next.fault ? (untrustedSince ?? now) : undefined;
  show();
}

// ---- what is shown

function Words({ say, also = "" }: { say: Said; also?: string }) {
  return languages.map((language) => (
    <span class="words" lang={kTag[language]}>
      {kWords[say][language]} {also}
    </span>
  ));
}

function WinShown({ win }: { win: Win }) {
  return (
    <section class="win" role="alert">
      <div class="rays" />
      <h1>
        <Words say="won" />
      </h1>
      <p class="won-amount" style={{ "--letters": dollars(win.cents).length }}>
        {dollars(win.cents)}
      </p>
      <p class="won-table">
        <Words say="table" also={win.table} />
      </p>
    </section>
  );
}

// For those who listen: the same amount, now and then, and at once where it has fallen.
function Spoken({ cents, now }: { cents: number; now: number }) {
  if (cents < spoken.cents || now - spoken.at >= kSpokenEveryMs) spoken = { cents, at: now };
  return (
    <p class="spoken" aria-live="polite">
      {dollars(spoken.cents)}
    </p>
  );
}

function Sign() {
  const now = performance.now();
  const untrustedMs = untrustedSince === undefined ? 0 : Math.max(now - untrustedSince, 1);
  const condition = isUnknown ? "unknown" : conditionOf(reading, untrustedMs);
  const hasAmount = !["connecting", "unknown", "lost"].includes(condition);
  const isCorrected = condition === "open" && now - correctedAt < kCorrectedMs;
  return (
    <main class={`sign ${condition}`}>
      {condition === "won" ? (
        <WinShown win={reading!.won!} />
      ) : (
        <header>
          <h1>
            <Words say="title" />
          </h1>
        </header>
      )}
      {hasAmount && (
        <section class="amount">
          {condition === "won" && (
            <p class="now">
              <Words say="now" />
            </p>
          )}
          <Drums odometer={odometer} />
          <Spoken cents={reading!.displayed_cents} now={now} />
        </section>
      )}
      <footer>
        <p class="message" role="status">
          {isCorrected ? (
            <Words say="corrected" />
          ) : condition === "unknown" ? (
            <Words say="unknown" also={`“${pool}”`} />
          ) : (
            condition !== "open" && condition !== "won" && <Words say={condition} />
          )}
        </p>
        {condition === "unknown" && (
          <p class="hint">
            <Words say="unknownHint" />
          </p>
        )}
        {condition === "open" && !isCorrected && reading!.won && (
          <p class="hint">
            <Words say="last" also={`${dollars(reading!.won.cents)} · ${reading!.won.table}`} />
          </p>
        )}
      </footer>
    </main>
  );
}

function show() {
  render(<Sign />, document.getElementById("page")!);
}

document.documentElement.lang = kTag[languages[0]!];
show();

// Browsers that nobody has told what they prefer say light, and most walls are to be dark: the address may say which.
const light = matchMedia("(prefers-color-scheme: light)");
const theme = asked.get("theme");
const paint = () => {
  document.documentElement.dataset.theme = theme ?? (light.matches ? "light" : "dark");
};
light.addEventListener("change", paint);
paint();

watchPool(pool, {
  onReading: take,
  onSilence() {
    untrustedSince ??= performance.now();
    show();
  },
  onUnknown() {
    isUnknown = true;
    show();
  },
});
setInterval(show, 500); // some of it is a matter of time

// ---- a screen that nobody touches

const stayAwake = () => {
  if (document.visibilityState === "visible") navigator.wakeLock?.request("screen").catch(() => {});
};
document.addEventListener("visibilitychange", stayAwake);
stayAwake();

let resting: number | undefined;
const showCursor = () => {
  document.body.classList.remove("resting");
  clearTimeout(resting);
  resting = setTimeout(() => document.body.classList.add("resting"), kCursorMs);
};
document.addEventListener("pointermove", showCursor);
showCursor();
