// Support for the tests of the pages: a real site (page_site.py), Debian's Chromium, and checks that apply to every page.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";

const tools = createRequire(new URL("../../../console/web/package.json", import.meta.url));
const { chromium } = tools("playwright-core");
const axePath = tools.resolve("axe-core/axe.min.js");

// The longest wait in a test; the machine may be busy.
export const kPatience = 30_000;

// `site.do("bet", {table: "BJ01", round: 1, seats: [2]})`: see page_site.py for what there is.
export async function openSite(options = {}) {
  const python = spawn(process.env.PYTHON, [fileURLToPath(new URL("page_site.py", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  let last = Promise.resolve();
  const ask = async (what) => {
    python.stdin.write(`${JSON.stringify(what)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error("page_site.py has ended");
    const { answer, error } = JSON.parse(value);
    if (error) throw new Error(error);
    return answer;
  };
  const site = {
    // One at a time.
    do: (what, given = {}) => (last = last.catch(() => {}).then(() => ask({ do: what, ...given }))),
    password: (name) => site.do("password", { name }),
    async close() {
      python.stdin.end();
      await new Promise((ended) => python.once("exit", ended));
    },
  };
  try {
    Object.assign(site, await site.do("open", options));
  } catch (error) {
    await site.close();
    throw error;
  }
  return site;
}

export const openBrowser = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

export const kSizes = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 768, height: 1024 },
  tabletWide: { width: 1024, height: 768 },
};

// A browser window of one person. Errors on the page's console fail the test when the window is closed.
export async function openWindow(browser, { size = "desktop", scheme = "light", ...more } = {}) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true, // the site's authority is its own
    viewport: kSizes[size],
    colorScheme: scheme,
    reducedMotion: "reduce",
    acceptDownloads: true,
    ...more,
  });
  context.setDefaultTimeout(kPatience);
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(`${error}`));
  page.on("console", (message) => {
    // A refused request is no fault of the page.
    const network = /Failed to load resource|net::ERR_/.test(message.text());
    if (message.type() === "error" && !network) page.faults.push(message.text());
  });
  page.end = async () => {
    await context.close();
    assert.deepEqual(page.faults, []);
  };
  return page;
}

// Any finding of axe is a failure, whatever its impact.
export async function checkAccessible(page, what) {
  const { readFile } = await import("node:fs/promises");
  // axe runs in an isolated world, to which the page's content security policy does not apply.
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "axe",
  });
  const source = `${await readFile(axePath, "utf8")};
    axe.run(document, {resultTypes: ["violations"]}).then((found) => JSON.stringify(found.violations.map((each) => ({
      rule: each.id, help: each.help, nodes: each.nodes.map((node) => node.html + " — " + node.failureSummary)}))))`;
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    contextId: executionContextId,
    expression: source,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  assert.equal(result.value, "[]", `${what} is not accessible: ${result.value}`);
}

// The uncompressed bytes of all files that a page loads until `ready` is shown.
export async function bytesOf(page, load) {
  let bytes = 0;
  const waits = [];
  const count = (response) =>
    waits.push(
      /event-stream/.test(response.headers()["content-type"] ?? "")
        ? undefined
        : response.body().then((body) => (bytes += body.length), () => {}),
    );
  page.on("response", count);
  await load();
  page.off("response", count);
  await Promise.all(waits);
  return bytes;
}
