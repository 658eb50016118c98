// Makes docs/screenshots: node screenshots.mjs DIRECTORY [VIEW ...], by ./dev screenshots. A day goes by on twelve tables,
// two of which win at once; then each view is shown light and dark, on a desk and on a tablet.
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { openBrowser, openSite, openWindow } from "./harness.mjs";

const kMostBytes = 150_000;
const directory = process.argv[2];
const only = process.argv.slice(3);
if (!directory) throw new Error("usage: node screenshots.mjs DIRECTORY [VIEW ...]");
await mkdir(directory, { recursive: true });

const tables = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `BJ0${n}`).concat([1, 2, 3, 4].map((n) => `UTH0${n}`));
const people = { ann: "supervisor", bob: "supervisor", eye: "surveillance", ivy: "inspector", root: "administrator" };
const site = await openSite({ tables, people, desk: { second_person_from: "1000.00" } });
const browser = await openBrowser();

// A client of the API with a person's session, without a window.
async function as(name) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: site.desk });
  const signedIn = await context.request.post("/api/v1/session", { data: { name, password: await site.password(name) } });
  const { csrf } = await signedIn.json();
  const ask = async (method, path, data) => {
    const answer = await context.request.fetch(`/api/v1${path}`, { method, data, headers: { "X-CSRF-Token": csrf } });
    if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  return { get: (path) => ask("GET", path), post: (path, data) => ask("POST", path, data) };
}

try {
  let now = 0;
  for (let hour = 0; hour < 11; hour++)
    now = await site.do("pass_time", { seconds: 7200, rounds: 40 + 13 * (hour % 4), force_jackpots: [0, 0, 0, 1, 0, 0, 0, 1][hour % 8] });
  const ann = await as("ann");
  const eye = await as("eye");
  // A tie that was ruled and paid short, and one that is held.
  await site.do("tie", { round: 5000, winners: { BJ03: 2, BJ04: 6 } });
  const [{ previews }] = (await eye.get("/pools/B7/rulings")).holds;
  await eye.post("/pools/B7/rulings", { order: previews[0].order, token: previews[0].token, reason: "camera 12: both at once" });
  const { awards } = await ann.get("/claims/BJ04/5000");
  const { seat, tier } = awards[0];
  const bob = await as("bob");
  for (const [paid, how] of [["4000.00", "cheque 4711"], ["1000.00", "cheque 4713"]]) {
    const { proposal, sha256 } = await ann.post("/claims/BJ04/5000/payments", { seat, tier, paid, how });
    await bob.post(`/proposals/${proposal}/approve`, { sha256 });
  }
  await ann.post("/claims/BJ03/5000/payments", { seat: 2, tier, paid: awards[0].amount.slice(0, -6), how: "cheque 4712" });
  await ann.post("/pools/UTH/adjustments", { amount: "-12.50", reason: "a round was counted twice on 14 November" });
  await site.do("tie", { round: 5001, winners: { BJ01: 2, BJ02: 1 } });
  for (const table of ["BJ03", "BJ05", "BJ06", "UTH01", "UTH02"]) await site.do("connect", { table });
  await site.do("bet", { table: "BJ05", round: 5001, seats: [1, 3, 6] });
  await site.do("bet", { table: "UTH01", round: 5001, seats: [2, 5] });
  await ann.post("/tables/BJ07/suspend", { ground: "malfunction", reason: "the shuffler stopped" });
  await ann.post("/tables/BJ08/suspend", { ground: "closed" });
  await site.do("look_at_meters");

  const { records } = await ann.get("/records?kind=payment_recorded");

  const views = [
    ["sign-in", ""],
    ["pools", "ann", "#/pools"],
    ["floor", "ann", "#/floor/BJ05"],
    ["claims", "ann", "#/claims"],
    ["claim", "ann", "#/claims/BJ04/5000"],
    ["ruling", "eye", "#/rulings/B7"],
    ["proposals", "bob", "#/proposals"],
    ["notices", "ivy", "#/notices"],
    ["journal", "ivy", "#/journal"],
    ["record", "ivy", `#/journal/${records[0].record}`],
    ["people", "root", "#/people"],
  ].filter(([name]) => !only.length || only.includes(name));
  for (const scheme of ["light", "dark"])
    for (const size of ["desktop", "tablet"]) {
      let page;
      let who;
      for (const [name, person, place] of views) {
        if (who !== person) {
          await page?.end();
          page = await openWindow(browser, { scheme, size });
          await page.clock.install({ time: now * 1000 });
          await page.goto(site.desk);
          who = person;
          if (person) {
            await page.getByLabel("Name").fill(person);
            await page.getByLabel("Password").fill(await site.password(person));
            await page.getByRole("button", { name: "Sign in" }).click();
            await page.getByRole("button", { name: "Sign out" }).waitFor();
          }
        }
        if (place) {
          await page.evaluate((to) => (location.hash = to), place);
          await page.locator("main .panel, main .pool, main table, main .ruling").first().waitFor();
          if (name === "ruling") await page.getByRole("radio").first().check();
          await page.mouse.move(0, 0);
        }
        await page.waitForTimeout(800);
        const file = join(directory, `console-${name}-${size}-${scheme}.png`);
        await page.screenshot({ path: file });
        const { size: bytes } = await stat(file);
        console.log(`${file}: ${bytes} bytes`);
        if (bytes > kMostBytes) throw new Error(`${file} has more than ${kMostBytes} bytes`);
      }
      await page?.end();
    }
} finally {
  await browser.close();
  await site.close();
}
