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
    minimum: "50000.00", payout_unit: "0.05", simultaneity_window_ms: 5000, settle_after_ms: 11_000,
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
    table_options: { BJ06: { require_player_card: false }, UTH05: { seats: 6 } },
    people: { ann: "supervisor", bob: "supervisor", eve: "surveillance" },
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
  const end = button(page, "Next round").or(button(page, "Close the round"));
  await end.or(seat(page, 1)).first().waitFor();
  if (await end.isVisible()) await end.click();
  await seat(page, 1).waitFor();
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

// [["Seat 5 Three sevens", "$1,000.00", "Due"], ...]
async function states(page, count) {
  const rows = await payments(page, count);
  const words = await page.getByRole("region", { name: "Payments" }).locator(".next b").allTextContents();
  return rows.map((row, at) => [...row, words[at]]);
}

// Requests of a person in a session of their own: a GET, or with a body a POST.
async function as(name, requests) {
  const page = await openWindow(browser);
  const context = page.context();
  const password = await site.password(name);
  const signedIn = await context.request.post(`${site.desk}/api/v1/session`, { data: { name, password } });
  const { csrf } = await signedIn.json();
  await requests(async (path, data) => {
    const answer = await context.request.fetch(`${site.desk}/api/v1${path}`, {
      method: data ? "POST" : "GET",
      ...(data ? { data } : {}),
      headers: { "X-CSRF-Token": csrf },
    });
    assert.ok(answer.ok(), `${path}: ${await answer.text()}`);
    return answer.json();
  });
  await page.end();
}

// Targets of 44 px, as fingers need them.
async function checkTargets(page, what) {
  const small = await page.locator("button:visible, a:visible, input:visible, select:visible").evaluateAll((all) =>
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
  // Before the button a supervisor at the table corrects the result alone.
  await button(page, "Correct the result…").press("Enter");
  await slot(page, "Dealer’s first card: seven of diamonds").and(page.locator(":focus")).waitFor();
  await slot(page, "Seat 1, first card: seven of spades").focus();
  await page.keyboard.type("8s");
  await checkAccessible(page, "a correction");
  await checkTargets(page, "a correction");
  await picture(page, "correction");
  await button(page, "Correct the result").press("Enter");
  await button(page, "Jackpot").waitFor();
  assert.deepEqual(await states(page, 2), [["Seat 5 Three sevens", "$1,000.00", "Due"], ["Seat 1 A seven each", "$50.00", "Withdrawn"]]);
  assert.equal((await site.do("records", { kind: "result_corrected" })).length, 1);

  // At the press the amount falls, and nothing is to be paid yet.
  await button(page, "Jackpot").press("Enter");
  await page.getByText(/Pressed at \d\d:\d\d:\d\d\.\d\d\d/).waitFor();
  await page.getByRole("heading", { name: "Being confirmed" }).waitFor();
  assert.equal(await page.getByTestId("displayed").textContent(), "$50,000.00");
  const jackpot = ["Seat 3 Three sevens of diamonds", "$50,003.55"];
  assert.deepEqual((await states(page, 3))[2], [...jackpot, "Being confirmed"]);
  await checkAccessible(page, "a locked jackpot");
  await picture(page, "locked");
  await page.getByRole("heading", { name: "Pay in this order" }).waitFor();
  assert.deepEqual((await states(page, 3))[2], [...jackpot, "Due"]);
  await checkAccessible(page, "the payments");
  await picture(page, "payments");
  await button(page, "Close the round").press("Enter");
  await seat(page, 3).waitFor();
  assert.equal(await seat(page, 3).getAttribute("aria-pressed"), "true");
  assert.equal((await site.do("records", { kind: "round_closed" })).length, 1);
  await page.end();
});

test("after the button two people correct the result, and the press stands", async () => {
  const page = await sit("BJ07");
  for (const number of [2, 6]) await seat(page, number).click();
  await button(page, "Lock 2 wagers and deal").click();
  await slot(page, "Seat 2, first card: no card").waitFor();
  await page.keyboard.type("7s7s7s9h7s");
  await button(page, "Report the result").click();
  await button(page, "Jackpot").click();
  await page.getByRole("heading", { name: "Being confirmed" }).waitFor();
  const [[, alone]] = await payments(page, 2).then((all) => all.filter(([what]) => /suited/.test(what)));
  await button(page, "Correct the result…").click();
  await slot(page, "Seat 6, second card: nine of hearts").focus();
  await page.keyboard.type("7s");
  await button(page, "Propose the correction").click();
  await page.getByRole("alert").filter({ hasText: "Enter the reason" }).waitFor();
  await page.getByLabel("Reason").fill("the card was mis-keyed");
  await checkAccessible(page, "a correction after the button");
  await button(page, "Propose the correction").click();
  await page.getByText(/Proposal \d+: another supervisor approves it at the console/).waitFor();
  await as("bob", async (ask) => {
    const { proposals } = await ask("/proposals?state=open");
    await ask(`/proposals/${proposals[0].proposal}/approve`, { sha256: proposals[0].sha256 });
  });
  const suited = async () => (await states(page, 1)).filter(([what, , state]) => /suited/.test(what) && state !== "Withdrawn");
  for (const until = Date.now() + kPatience; (await suited()).length < 2 && Date.now() < until; ) await page.waitForTimeout(200);
  assert.deepEqual((await suited()).map(([what]) => what).sort(), ["Seat 2 Three suited sevens", "Seat 6 Three suited sevens"]);
  assert.notEqual((await suited())[0][1], alone);
  await clear(page);
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
  await there.getByText("Call Surveillance: they rule").waitFor();
  const mine = async (page) => (await states(page, 1)).filter(([what]) => what.startsWith("Seat 4"));
  assert.deepEqual((await mine(there)).map(([, , state]) => state), ["Held"]);

  await as("eve", async (ask) => {
    const { holds } = await ask("/pools/B7/rulings");
    const { order, token } = holds[0].previews.find((each) => each.order.length === 1);
    await ask("/pools/B7/rulings", { order, token, reason: "camera 12" });
  });
  for (const page of [here, there]) {
    await page.getByRole("heading", { name: "Pay in this order" }).waitFor();
    assert.deepEqual(await mine(page), [["Seat 4 Three suited sevens", "$5,000.00", "Due"]]);
    await page.getByRole("listitem").filter({ hasText: "BJ 14.27.2" }).first().waitFor();
  }

  // A withheld award is not to be paid; a recorded payment is shown.
  const [{ round }] = (await site.do("records", { kind: "jackpot_confirmed" })).filter(({ command }) => command.table === "BJ06").slice(-1).map(({ command }) => command);
  const award = { seat: 4, tier: "three_suited_sevens" };
  const decide = async (path, body) => {
    await as("ann", (ask) => ask(path, body));
    await as("bob", async (ask) => {
      const { proposals } = await ask("/proposals?state=open");
      for (const { proposal, sha256 } of proposals) await ask(`/proposals/${proposal}/approve`, { sha256 });
    });
  };
  await decide(`/claims/BJ06/${round}/withhold`, { ...award, reason: "identity in question" });
  await here.getByText("Do not pay: call a supervisor.").waitFor();
  assert.deepEqual((await mine(here)).map(([, , state]) => state), ["Withheld"]);
  await checkAccessible(here, "a withheld award");
  await picture(here, "withheld");
  await decide(`/claims/BJ06/${round}/release`, { ...award, reason: "passport seen" });
  await here.getByText("Do not pay: call a supervisor.").waitFor({ state: "detached" });
  await as("ann", (ask) => ask(`/claims/BJ06/${round}/payments`, { ...award, paid: "5000.00", how: "chips" }));
  await here.getByText("The payment is recorded at the desk.").waitFor();
  await clear(there);
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
  await other.getByLabel("Ground of the void").selectOption({ label: "Missing or foreign card (UTH 11.7)" });
  await checkTargets(other, "a void");
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
  const [{ command, notices }] = (await site.do("records", { kind: "round_voided" })).slice(-1);
  assert.deepEqual([command.ground, command.by], ["missing_or_foreign_card", ["ann"]]);
  assert.equal(notices[0].kind, "missing_or_foreign_card");
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
