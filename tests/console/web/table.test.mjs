// A dealer's screen: rounds of both games with clicks and keys, from the wager to the payment.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { bytesOf, checkAccessible, kPatience, openBrowser, openSite, openWindow } from "./harness.mjs";

// With JACKPOT_SCREENSHOTS=DIR the test leaves pictures of what it saw there.
const pictures = process.env.JACKPOT_SCREENSHOTS;
const picture = (page, name) =>
  pictures && page.screenshot({ path: `${pictures}/table-${name}.png`, fullPage: true });

const kBytes = 200_000; // of the whole page, unpacked

// As everywhere, but for a window in which two presses tie on a busy machine too.
const pools = {
  B7: {
    game: "blazing7s", paytable: "blazing7s-5", wager: "5.00", increment: "0.235", reserve_increment: "0.015",
    minimum: "50000.00", payout_unit: "0.05", simultaneity_window_ms: 5000,
  },
  UTH: {
    game: "uth", paytable: "uth-2.50", wager: "2.50", increment: "0.2", minimum: "50000.00",
    "bonus.royal_flush": "1000.00", "bonus.straight_flush": "100.00",
  },
};

let site, browser;
before(async () => {
  site = await openSite({
    tables: ["BJ06", "BJ07", "UTH05"],
    demo: { tables: ["BJ06", "BJ07", "UTH05"] },
    pools,
    table_options: { BJ07: { require_player_card: true }, UTH05: { seats: 6 } },
    people: { ann: "supervisor", eve: "surveillance" },
  });
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await site?.close();
});

async function sit(table, options = {}) {
  const page = await openWindow(browser, { size: "tabletWide", ...options });
  await page.goto(`${site.desk}/table/${table}`);
  await page.getByLabel("Name").fill("ann");
  await page.getByLabel("Password").fill(await site.password("ann"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: table }).waitFor();
  return page;
}

// Clears the cards of the last round, if there are any.
async function clear(page) {
  await button(page, "Next round").or(seat(page, 1)).first().waitFor();
  if (await button(page, "Next round").isVisible()) await button(page, "Next round").click();
}

const seat = (page, number) => page.getByRole("button", { name: `Seat ${number}: jackpot wager` });
const slot = (page, name) => page.getByRole("button", { name });
const button = (page, name) => page.getByRole("button", { name });

// [["Seat 5 Three sevens", "$1,000.00"], ...] of a round, in the order in which they stand.
async function payments(page, count) {
  const rows = page.getByRole("region", { name: "Payments" }).getByRole("listitem");
  await rows.nth(count - 1).waitFor();
  return rows.evaluateAll((all) =>
    all.map((each) => [
      [...each.querySelector(".what").childNodes].filter((node) => node.nodeName !== "SMALL").map((node) => node.textContent).join(""),
      each.querySelector(".cents").textContent,
    ]),
  );
}

// Targets of 44 px, as fingers need them.
async function checkTargets(page, what) {
  const small = await page.locator("button:visible, a:visible, input:visible").evaluateAll((all) =>
    all
      .map((each) => [each.getAttribute("aria-label") ?? each.textContent, each.getBoundingClientRect()])
      .filter(([, box]) => Math.min(box.width, box.height) < 43.5)
      .map(([name, box]) => `${name}: ${box.width} x ${box.height}`),
  );
  assert.deepEqual(small, [], `${what}: too small for a finger`);
}

test("a round of Blazing 7's is played by keyboard alone, and payments are listed in order", async () => {
  const page = await openWindow(browser, { size: "tabletWide" });
  const bytes = await bytesOf(page, async () => {
    await page.goto(`${site.desk}/table/BJ06`, { waitUntil: "networkidle" });
  });
  assert.ok(bytes < kBytes, `${bytes} bytes`);
  await checkAccessible(page, "the door");
  await picture(page, "door");
  // A wrong password is reported, and the form stays.
  await page.getByLabel("Name").fill("ann");
  await page.getByLabel("Password").fill("not it");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
  await page.getByLabel("Password").fill(await site.password("ann"));
  await page.keyboard.press("Enter");

  await seat(page, 1).waitFor();
  await checkAccessible(page, "the wagers");
  await checkTargets(page, "the wagers");
  for (const number of [1, 3, 5]) {
    await seat(page, number).focus();
    await page.keyboard.press("Space");
  }
  assert.equal(await seat(page, 3).getAttribute("aria-pressed"), "true");
  await picture(page, "wagers");
  await button(page, "Lock 3 wagers and deal").press("Enter");

  // The first place has the focus: the dealer types what lies there.
  await slot(page, "Seat 1, first card: no card").and(page.locator(":focus")).waitFor();
  await checkTargets(page, "the cards");
  await page.keyboard.type("7s10h");
  await slot(page, "Seat 1, second card: ten of hearts").waitFor();
  await slot(page, "Seat 3, first card: no card").and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Backspace"); // no: it was a nine
  await page.keyboard.type("9h7d7d7h7c7d");
  await slot(page, "Dealer’s first card: seven of diamonds").waitFor();
  await slot(page, "Seat 5, second card: seven of clubs").waitFor();
  await checkAccessible(page, "the cards");
  await picture(page, "cards");
  await button(page, "Report the result").press("Enter");

  await button(page, "Jackpot").waitFor();
  await page.getByRole("heading", { name: "Seat 3: Three sevens of diamonds" }).waitFor();
  // The focus is before the button, not on it: nobody presses it by a second Enter.
  await page.locator(".rail:focus").waitFor();
  const fixed = [["Seat 5 Three sevens", "$1,000.00"], ["Seat 1 A seven each", "$50.00"]];
  assert.deepEqual(await payments(page, 2), fixed);
  await checkAccessible(page, "the button");
  await picture(page, "button");
  await button(page, "Jackpot").press("Enter");
  await page.getByText(/Pressed at \d\d:\d\d:\d\d\.\d\d\d/).waitFor();
  assert.deepEqual(await payments(page, 3), [...fixed, ["Seat 3 Three sevens of diamonds", "$50,003.55"]]);
  await page.getByRole("heading", { name: "Pay in this order" }).waitFor();
  assert.equal(await page.getByTestId("displayed").textContent(), "$50,000.00");
  await checkAccessible(page, "the payments");
  await picture(page, "payments");
  await button(page, "Next round").press("Enter");
  assert.equal(await seat(page, 3).getAttribute("aria-pressed"), "true");
  await page.end();
});

test("a round of Ultimate Texas Hold'em is played by touch, in dark mode", async () => {
  const page = await sit("UTH05", { scheme: "dark", hasTouch: true, size: "tablet" });
  for (const number of [2, 4]) await seat(page, number).tap();
  await button(page, "Lock 2 wagers and deal").tap();
  await slot(page, "Seat 2, first card").tap();
  await checkTargets(page, "hold'em");
  // A missing value is reported beside its field.
  await button(page, "Report the result").tap();
  await page.getByRole("alert").filter({ hasText: "Flop: enter all its cards first." }).waitFor();
  for (const _ of [1, 2]) await page.getByRole("button", { name: "ace of spades", exact: true }).tap({ force: true });
  await page.getByRole("alert").filter({ hasText: "A♠ is on the table already: there is one deck." }).waitFor();
  await button(page, "Royal flush").tap();
  await slot(page, "Seat 2, first card: jack of spades").waitFor();
  await checkAccessible(page, "hold'em's cards");
  await picture(page, "holdem-cards");
  await button(page, "Report the result").tap();
  await button(page, "Jackpot").tap();
  assert.deepEqual(await payments(page, 2), [["Seat 4 Bonus", "$1,000.00"], ["Seat 2 Royal flush", "$50,001.00"]]);
  await checkAccessible(page, "hold'em's payments");
  await picture(page, "holdem-payments");
  await page.end();
});

test("simultaneous presses at two tables are held, ruled and paid", async () => {
  const here = await sit("BJ06");
  const there = await sit("BJ07", { scheme: "dark" });
  for (const page of [here, there]) {
    await clear(page);
    await seat(page, 4).click();
    await button(page, /Lock \d wagers? and deal/).click();
    await slot(page, "Seat 4, first card: no card").click();
    await button(page, "Three 7♠").click();
    await button(page, "Report the result").click();
    await button(page, "Jackpot").waitFor();
  }
  await Promise.all([here, there].map((page) => button(page, "Jackpot").click()));
  for (const page of [here, there]) await page.getByRole("heading", { name: "Held for Surveillance" }).waitFor();
  await checkAccessible(there, "what is held");
  await picture(there, "held");
  // Nothing is due, and a new round may begin meanwhile.
  assert.equal(await there.getByRole("region", { name: "Payments" }).getByRole("listitem").count(), 0);

  const eve = await openWindow(browser);
  await eve.goto(`${site.desk}/table/BJ06`);
  const password = await site.password("eve");
  const status = await eve.evaluate(async (given) => {
    const ask = async (path, headers, body) =>
      fetch(`/api/v1${path}`, { method: body ? "POST" : "GET", headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    const json = { "Content-Type": "application/json" };
    const { csrf } = await (await ask("/session", json, { name: "eve", password: given })).json();
    const { previews } = await (await ask("/pools/B7/rulings", {})).json();
    const { order, token } = previews.find((each) => each.order.length === 1);
    return (await ask("/pools/B7/rulings", { ...json, "X-CSRF-Token": csrf }, { order, token, reason: "camera 12" })).status;
  }, password);
  assert.equal(status, 200);
  await eve.end();
  for (const page of [here, there]) {
    await page.getByRole("listitem").filter({ hasText: "BJ 14.27.2" }).waitFor();
    assert.deepEqual((await payments(page, 1))[0], ["Seat 4 Three suited sevens", "$5,000.00"]);
  }
  await there.end();
  await here.end();
});

test("refusals are explained, and a void returns the wagers", async () => {
  const page = await sit("UTH05");
  await clear(page);
  await button(page, "All seats").click();
  await button(page, "Lock 6 wagers and deal").click();
  // Another tab opens a round at the same table; this tab does not know of it.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await button(other, "Void the round…").click();
  await button(other, /Void round \d+/).click();
  await other.getByRole("alert").filter({ hasText: "Enter the reason" }).waitFor();
  await other.getByLabel("Reason for the void").fill("a card was exposed");
  await button(other, "Shuffled cards").click();
  await button(page, "Shuffled cards").click();
  await page.route("**/api/v1/demo/tables/UTH05", (route) => route.abort()); // it gets no feed
  await button(other, /Void round \d+/).click();
  await other.getByRole("heading", { name: "The round is void" }).waitFor();
  await other.getByText("Return the wager of seat 6: $2.50").waitFor();
  await button(page, "Report the result").click();
  await page.getByRole("alert").filter({ hasText: /void/i }).waitFor();
  await page.getByText("The controller cannot be reached. The page may be out of date.").waitFor();
  await picture(page, "refused");
  await page.unroute("**/api/v1/demo/tables/UTH05");
  await page.getByRole("heading", { name: "The round is void" }).waitFor({ timeout: kPatience });
  await checkAccessible(other, "a void round");
  await page.end();
});

test("the page of an unknown table shows that", async () => {
  const page = await openWindow(browser);
  await page.goto(`${site.desk}/table/BJ99`);
  await page.getByLabel("Name").fill("ann");
  await page.getByLabel("Password").fill(await site.password("ann"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The demo floor has no table BJ99.").waitFor();
  await checkAccessible(page, "no such table");
  // Control: the checks of every page detect planted faults.
  await page.goto(`${site.desk}/table/BJ06`);
  await page.getByRole("link", { name: "BJ07" }).evaluate((link) => {
    Object.assign(link.style, { minHeight: "20px", height: "20px", color: "#e0dbd0" });
  });
  await assert.rejects(checkTargets(page, "a small link"), /too small for a finger/);
  await assert.rejects(checkAccessible(page, "a pale link"), /not accessible/);
  await page.end();
});
