// The wall sign, /sign/POOL; it needs no session.
import { render } from "preact";
import { dollars } from "./lib/money";
import { Drums } from "./sign/drums";
import { Odometer } from "./sign/odometer";
import { type Reading, type Win, conditionOf, isCorrection } from "./sign/reading";
import { watchPool } from "./sign/watch";
import { type TextId, kLanguages, kTag, kTexts } from "./sign/texts";
import "./lib/visually_hidden.css";
import "./sign/sign.css";

const kCorrectedMs = 10_000; // how long a correction is announced
const kSpokenIntervalMs = 30_000;
const kCursorMs = 3000;

const pool = decodeURIComponent(location.pathname.split("/").pop()!);
const options = new URLSearchParams(location.search);
const languages = kLanguages.filter((each) => each === options.get("lang"));
if (languages.length === 0) languages.push(...kLanguages);

// ---- state

const odometer = new Odometer();
let reading: Reading | undefined;
let isUnknown = false;
let untrustedSince: number | undefined = performance.now();
let correctedAt = -kCorrectedMs;
let spoken = { cents: -1, at: -kSpokenIntervalMs };

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

function receive(next: Reading) {
  const now = performance.now();
  if (reading && isCorrection(reading, next)) correctedAt = now;
  odometer.setTarget(next.displayed_cents, now, !reading || reducedMotion.matches);
  reading = next;
  isUnknown = false;
  untrustedSince = next.fault ? (untrustedSince ?? now) : undefined;
  show();
}

// ---- view

function Text({ id, also = "" }: { id: TextId; also?: string }) {
  return languages.map((language) => (
    <span class="words" lang={kTag[language]}>
      {kTexts[id][language]} {also}
    </span>
  ));
}

function WinView({ win }: { win: Win }) {
  return (
    <section class="win" role="alert">
      <div class="rays" />
      <h1>
        <Text id="won" />
      </h1>
      <p class="won-amount" style={{ "--letters": dollars(win.cents).length }}>
        {dollars(win.cents)}
      </p>
      <p class="won-table">
        <Text id="table" also={win.table} />
      </p>
    </section>
  );
}

// For screen readers: the amount once in kSpokenIntervalMs, and at once when it falls.
function Spoken({ cents, now }: { cents: number; now: number }) {
  if (cents < spoken.cents || now - spoken.at >= kSpokenIntervalMs) spoken = { cents, at: now };
  return (
    <p class="spoken visually-hidden" aria-live="polite">
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
        <WinView win={reading!.won!} />
      ) : (
        <header>
          <h1>
            <Text id="title" />
          </h1>
        </header>
      )}
      {hasAmount && (
        <section class="amount">
          {condition === "won" && (
            <p class="now">
              <Text id="now" />
            </p>
          )}
          <Drums odometer={odometer} />
          <Spoken cents={reading!.displayed_cents} now={now} />
        </section>
      )}
      <footer>
        <p class="message" role="status">
          {isCorrected ? (
            <Text id="corrected" />
          ) : condition === "unknown" ? (
            <Text id="unknown" also={`“${pool}”`} />
          ) : (
            condition !== "open" && condition !== "won" && <Text id={condition} />
          )}
        </p>
        {condition === "confirming" && reading!.locked && (
          <p class="hint">
            <Text id="table" also={`${reading!.locked.table} · ${dollars(reading!.locked.cents)}`} />
          </p>
        )}
        {condition === "unknown" && (
          <p class="hint">
            <Text id="unknownHint" />
          </p>
        )}
        {condition === "open" && !isCorrected && reading!.won && (
          <p class="hint">
            <Text id="last" also={`${dollars(reading!.won.cents)} · ${reading!.won.table}`} />
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

// Without a preference browsers report light, but most signs should be dark: ?theme= in the address overrides it.
const light = matchMedia("(prefers-color-scheme: light)");
const theme = options.get("theme");
const paint = () => {
  document.documentElement.dataset.theme = theme ?? (light.matches ? "light" : "dark");
};
light.addEventListener("change", paint);
paint();

watchPool(pool, {
  onReading: receive,
  onDisconnected() {
    untrustedSince ??= performance.now();
    show();
  },
  onUnknown() {
    isUnknown = true;
    show();
  },
});
setInterval(show, 500); // some conditions depend on the time

// ---- unattended screen

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
