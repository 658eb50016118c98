// The size of the console's first view, and its longest task while 12 tables play.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";

import { bytesOf, openBrowser, openSite, openWindow } from "./harness.mjs";

const kMostBytes = 200_000;
const kLongTaskMs = 50;
const kWatchMs = 12_000;
let site;
let browser;
let page;

before(async () => {
  const tables = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `BJ0${n}`).concat([1, 2, 3, 4].map((n) => `UTH0${n}`));
  site = await openSite({ tables, people: { aud: "auditor" } });
  browser = await openBrowser();
  page = await openWindow(browser);
});
after(async () => {
  await page?.end();
  await browser?.close();
  await site?.close();
});

// The longest task of the page's main thread, in processor time: other programs on the machine do not count. The trace
// has each task with how long its thread ran for it (tdur).
async function longestTask(work) {
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const main = new Set(
    traceEvents.filter((each) => each.name === "thread_name" && each.args.name === "CrRendererMain").map((each) => `${each.pid}/${each.tid}`),
  );
  const tasks = traceEvents.filter(
    (each) => /RunTask$/.test(each.name) && each.tdur !== undefined && main.has(`${each.pid}/${each.tid}`),
  );
  assert.ok(tasks.length > 0, "the trace has no tasks");
  return Math.max(...tasks.map((each) => each.tdur)) / 1000;
}

test("the first view is small", async () => {
  const bytes = await bytesOf(page, async () => {
    await page.goto(site.desk);
    await page.getByLabel("Name").fill("aud");
    await page.getByLabel("Password").fill(await site.password("aud"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: /^UTH/ }).waitFor();
    await page.getByRole("slider").first().waitFor();
    await page.waitForTimeout(1000);
  });
  console.log(`sign-in and first view: ${bytes} bytes`);
  assert.ok(bytes > 20_000, "nothing was counted");
  assert.ok(bytes < kMostBytes, `${bytes} bytes`);
});

test("no task is long while 12 tables play", async () => {
  await site.do("play", { rate: 240 });
  for (const view of ["pools", "floor", "journal"]) {
    await page.evaluate((to) => (location.hash = `#/${to}`), view);
    const before = (await site.do("records")).length;
    const longest = await longestTask(() => page.waitForTimeout(kWatchMs / 3));
    const played = (await site.do("records")).length - before;
    console.log(`${view}: the longest task took ${longest.toFixed(1)} ms, while ${played} records came`);
    assert.ok(played > 50, "the tables do not play");
    assert.ok(longest < kLongTaskMs, `${view}: a task of ${longest} ms`);
  }
  // Control: a long task is found.
  const found = await longestTask(() =>
    page.evaluate(() => {
      const end = performance.now() + 1000;
      while (performance.now() < end);
    }),
  );
  assert.ok(found > kLongTaskMs, `a task of a second was measured as ${found} ms`);
});

test("background requests do not keep a session alive, and actions of a person do", async () => {
  const asked = [];
  page.on("request", (each) => asked.push(each.headers()["x-background-request"] === "1"));
  await page.waitForTimeout(4000);
  assert.ok(asked.length > 2, "the page does not keep up");
  assert.ok(asked.every((byItself) => byItself));
  asked.length = 0;
  await page.getByRole("link", { name: "Floor" }).click();
  await page.getByRole("link", { name: /^BJ01/ }).waitFor();
  assert.ok(asked.some((byItself) => !byItself));
  await site.do("stop_playing");
});
