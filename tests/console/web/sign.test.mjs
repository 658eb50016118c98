// The wall sign against the real daemon: a minute of wagers with a win, every frame of it looked at; every condition that
// it can be in; and a daemon that is killed.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import https from "node:https";
import { bytesOf, checkAccessible, kPatience, openBrowser, openSite, openWindow } from "./harness.mjs";
import { faultsIn } from "./sign_faults.mjs";

const kWide = { width: 1280, height: 720 };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const dollars = (cents) =>
  `$${Math.floor(cents / 100).toLocaleString("en-US")}.${String(cents % 100).padStart(2, "0")}`;

// One more drum comes up soon, and goes with the win.
const kOpening = 9_999_000;
const kPools = {
  B7: {
    game: "blazing7s",
    paytable: "blazing7s-5",
    wager: "5.00",
    increment: "0.235",
    minimum: "50000.00",
    opening: "99990.00",
    payout_unit: "0.05",
    simultaneity_window_ms: 2000,
  },
  UTH: { game: "uth", paytable: "uth-2.50", wager: "2.50", increment: "0.2", minimum: "50000.00" },
};

let site, browser, agent;

before(async () => {
  site = await openSite({ pools: kPools, people: { ann: "supervisor" } });
  browser = await openBrowser();
  agent = new https.Agent({ keepAlive: true, ca: await readFile(`${site.folder}/pki/ca.pem`) });
  for (const table of ["BJ01", "BJ02", "UTH01"]) await site.do("connect", { table });
});

after(async () => {
  agent?.destroy();
  await browser?.close();
  await site?.close();
});

// ---- the desk, without a page

function ask(method, path, { body, token } = {}) {
  const headers = {
    ...(body && { "Content-Type": "application/json" }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  return new Promise((answered, failed) => {
    const request = https.request(`${site.desk}/api/v1${path}`, { method, agent, headers }, async (answer) => {
      let text = "";
      for await (const piece of answer) text += piece;
      if (answer.statusCode >= 400) failed(new Error(`${path}: ${answer.statusCode} ${text}`));
      else answered(text && JSON.parse(text));
    });
    request.on("error", failed);
    request.end(body && JSON.stringify(body));
  });
}

const reading = (pool) => ask("GET", `/signs/${pool}`);

async function signIn(name) {
  const body = { name, password: await site.password(name) };
  return (await ask("POST", "/session?bearer", { body })).token;
}

// ---- the sign

async function openSign(pool, { query = "", wrong = false, ...more } = {}) {
  const page = await openWindow(browser, { viewport: kWide, scheme: "dark", reducedMotion: "no-preference", ...more });
  // Control: a sign that shows a cent more than it received.
  if (wrong)
    await page.addInitScript(() => {
      const parse = JSON.parse;
      JSON.parse = (text) => {
        const value = parse(text);
        if ("displayed_cents" in value) ++value.displayed_cents;
        return value;
      };
    });
  await page.goto(`${site.desk}/sign/${pool}${query}`);
  return page;
}

const turnsTo = (page, condition, timeout = kPatience) => page.locator(`main.${condition}`).waitFor({ timeout });
const says = (page, words) => page.getByText(words, { exact: true }).waitFor();
const shows = (page, cents) => page.locator(`.drums[data-cents="${cents}"]`).waitFor();

// Reads the drums in every frame by the positions of their digits.
const watchFrames = (page) =>
  page.evaluate(() => {
    window.watched = [];
    const look = () => {
      requestAnimationFrame(look);
      const drums = document.querySelector(".drums");
      if (!drums) return;
      const at = Date.now();
      const said = Number(drums.dataset.cents);
      const strips = [...drums.querySelectorAll(".strip")].map((strip) => {
        const { top, height } = strip.getBoundingClientRect();
        const window = strip.parentElement.getBoundingClientRect();
        return { strip, turned: ((window.top - top) / height) * strip.children.length };
      });
      const read = (by) =>
        Number(strips.map(({ strip, turned }) => strip.children[Math.round(turned + by)].textContent).join(""));
      // Halfway between two digits, both can be read.
      const readable = [0, -0.01, 0.01].map(read);
      const spoken = Number(document.querySelector(".spoken").textContent.replace(/[$,.]/g, ""));
      const condition = document.querySelector("main").classList[1];
      window.watched.push({ at, condition, said, spoken, cents: readable.includes(said) ? said : readable[0] });
    };
    look();
  });

// ---- a floor

let round = 100;

// Plays wagers for `ms` milliseconds, with pauses in which the sign catches up.
async function play(ms) {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    const restAt = Math.min(Date.now() + 3000, end);
    while (Date.now() < restAt) {
      await site.do("bet", { table: "BJ02", round: ++round, seats: [1, 2, 3, 4, 5, 6, 7].slice(round % 7) });
      await site.do("result", { table: "BJ02", round, board: ["9H"], hands: {} });
      await pause(100);
    }
    await pause(2000);
  }
}

// Reads the durable amount over and over, until stopped.
function readAmounts(pool) {
  const readings = [];
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      const asked = Date.now();
      const { displayed_cents } = await reading(pool);
      readings.push({ asked, heard: Date.now(), cents: displayed_cents });
      await pause(30);
    }
  })();
  return async () => {
    stopped = true;
    await done;
    return readings;
  };
}

describe("while wagers come", { concurrency: true }, () => {
  test("during a minute of wagers and a win the sign is never above the durable amount, and goes back only at the press", async (t) => {
    const page = await openSign("B7");
    await shows(page, kOpening);
    const wrong = await openSign("B7", { wrong: true, viewport: { width: 320, height: 180 }, scheme: "light" });
    const stop = readAmounts("B7");
    t.after(stop);
    await Promise.all([watchFrames(page), watchFrames(wrong)]);
    const end = Date.now() + 60_000;

    await play(15_000);
    const before = (await reading("B7")).displayed_cents;
    await site.do("bet", { table: "BJ01", round: 1, seats: [2] });
    await site.do("result", { table: "BJ01", round: 1, board: ["7D"], hands: { 2: ["7D", "7D"] } });
    assert.deepEqual(await site.do("confirm", { table: "BJ01", round: 1 }), ["locked"]);
    // At the press the amount falls, and the sign shows what is being confirmed; nothing is won yet.
    await turnsTo(page, "confirming");
    const { locked, displayed_cents: reset, won: nothing } = await reading("B7");
    assert.ok(locked.table === "BJ01" && locked.cents > before && reset < before && !nothing);
    await says(page, "A jackpot is being confirmed");
    await says(page, `Table BJ01 · ${dollars(locked.cents)}`);
    await shows(page, reset);
    await checkAccessible(page, "a jackpot that is being confirmed");
    await turnsTo(page, "won");
    const { won, ...later } = await reading("B7");
    assert.deepEqual([later.locked, won.cents], [undefined, locked.cents]);
    assert.ok(before > 10_000_000);
    assert.deepEqual([won.table, won.percent, won.shown], ["BJ01", 100, true]);
    assert.ok(won.cents > before && reset < before);
    await says(page, "Jackpot won!");
    await says(page, dollars(won.cents));
    await says(page, "Table BJ01");
    await shows(page, reset);
    await checkAccessible(page, "a jackpot that is won");

    await play(end - Date.now());
    await turnsTo(page, "open"); // a win is shown for half a minute
    await says(page, `Last won ${dollars(won.cents)} · BJ01`);
    const readings = await stop();
    const frames = await page.evaluate(() => window.watched);
    const wrongFrames = await wrong.evaluate(() => window.watched);

    assert.deepEqual(faultsIn(frames, readings), []);
    // A disk that is slow for a moment is shown as a fault for that time.
    const conditions = frames.map((each) => each.condition).filter((each) => each !== "outdated");
    const changes = conditions.filter((each, i) => each !== conditions[i - 1]);
    assert.deepEqual(changes, ["open", "confirming", "won", "open"]);
    // Control: frames were read, and the sign rolled through amounts that the pool never had.
    assert.ok(frames.length > 300, `${frames.length} frames`);
    const durable = new Set(readings.map((each) => each.cents));
    const between = frames.filter((each) => !durable.has(each.cents)).length;
    assert.ok(between > 100, `${between} of ${frames.length} frames`);
    assert.match(faultsIn(wrongFrames, readings).join("\n"), /^above: /, "a sign that is a cent ahead is not noticed");
    console.log(`    ${frames.length} frames, ${between} of them between ${durable.size} durable amounts`);
    await Promise.all([page.end(), wrong.end()]);
  });

  test("a closed pool and a corrected amount are shown", async () => {
    const page = await openSign("UTH", { scheme: "light", reducedMotion: "reduce" });
    await shows(page, 5_000_000);
    const ann = await signIn("ann");
    const body = { reason: "test" };
    await ask("POST", "/pools/UTH/suspend", { body, token: ann });
    await turnsTo(page, "closed");
    await says(page, "The jackpot is closed at present");
    await checkAccessible(page, "a closed pool");
    await ask("POST", "/pools/UTH/resume", { body, token: ann });
    await turnsTo(page, "open");

    await watchFrames(page);
    await site.do("bet", { table: "UTH01", round: 1, seats: [1, 2, 3] });
    await shows(page, 5_000_150);
    await ask("POST", "/tables/UTH01/rounds/1/void", { body: { ground: "dealing_error" }, token: ann });
    await shows(page, 5_000_000);
    await says(page, "The amount has been corrected");
    // With prefers-reduced-motion nothing moves.
    const drawn = await page.evaluate(() => window.watched.map((each) => each.cents));
    assert.deepEqual([...new Set(drawn)], [5_000_000, 5_000_150]);
    await page.end();
  });

  test("the first view is small, in both languages, and accessible", async () => {
    const page = await openWindow(browser, { viewport: kWide });
    const bytes = await bytesOf(page, async () => {
      await page.goto(`${site.desk}/sign/B7`);
      await page.locator(".drums").waitFor();
    });
    assert.ok(bytes > 5000 && bytes < 200_000, `${bytes} bytes`);
    await says(page, "Progressive Jackpot");
    await says(page, "累积大奖");
    assert.match(await page.locator("[aria-live=polite]").textContent(), /^\$\d{2,3},\d{3}\.\d\d$/);
    await checkAccessible(page, "an open pool");
    for (const [lang, other] of [["en", "zh-Hans"], ["zh", "en"]]) {
      await page.goto(`${site.desk}/sign/B7?lang=${lang}`);
      await page.locator(".drums").waitFor();
      assert.equal(await page.locator(`.words[lang="${other}"]`).count(), 0);
    }
    const ground = async (query, colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${site.desk}/sign/B7${query}`);
      return page.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor);
    };
    const dark = await ground("", "dark");
    assert.notEqual(await ground("", "light"), dark);
    assert.equal(await ground("?theme=dark", "light"), dark);
    // The whole sign fits on every screen size.
    for (const [width, height] of [[3840, 2160], [1920, 1080], [1080, 1920], [800, 480], [480, 800]]) {
      await page.setViewportSize({ width, height });
      const { x, y, width: wide, height: high } = await page.locator(".drums").boundingBox();
      assert.ok(x > 0 && y > 0 && x + wide < width && y + high < height, `${width} x ${height}`);
      assert.ok(wide > width * 0.6, `small on ${width} x ${height}`);
    }
    await page.end();
  });

  test("an unknown pool is shown as such", async () => {
    const page = await openSign("NONE");
    await turnsTo(page, "unknown");
    await says(page, "There is no such pool “NONE”");
    assert.equal(await page.locator(".drums").count(), 0);
    await checkAccessible(page, "an unknown pool");
    await page.end();
  });
});

test("a held jackpot is shown as held; a stopped or silent daemon is shown as a fault until it is back", async () => {
  const page = await openSign("B7");
  assert.deepEqual(await site.do("tie", { round: 50_000, winners: { BJ01: 2, BJ02: 1 } }), ["held", "held"]);
  assert.ok((await reading("B7")).held);
  await turnsTo(page, "held");
  await says(page, "A jackpot is held for a ruling");
  await says(page, "大奖待裁定");
  await checkAccessible(page, "a jackpot that is held");
  const { displayed_cents } = await reading("B7");

  await site.do("kill");
  await turnsTo(page, "outdated", 10_000);
  await says(page, "The amount may be out of date");
  await says(page, "金额可能不是最新");
  await shows(page, displayed_cents);
  await checkAccessible(page, "an amount that may be out of date");
  await turnsTo(page, "lost");
  await says(page, "The amount is not available at present");
  assert.equal(await page.locator(".drums, .spoken").count(), 0);
  assert.doesNotMatch(await page.locator("body").innerText(), /\d/);
  await checkAccessible(page, "an amount that is lost");

  await site.do("start");
  await turnsTo(page, "held");
  await shows(page, displayed_cents);

  // The daemon runs, but sends nothing.
  await site.do("freeze");
  await turnsTo(page, "outdated", 15_000);
  await site.do("thaw");
  await turnsTo(page, "held");
  await page.end();
  agent.destroy(); // its connection was to the daemon before
  await site.do("verify");
});
