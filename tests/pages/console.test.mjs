import { test } from "node:test";
import assert from "node:assert/strict";
import { checkAccessible, openBrowser, openSite, openWindow } from "./harness.mjs";

test("the page is served", async () => {
  const site = await openSite({ people: { ann: "supervisor" } });
  const browser = await openBrowser();
  try {
    const page = await openWindow(browser);
    await page.goto(site.desk);
    await page.locator("#page *").first().waitFor();
    await page.end();
  } finally {
    await browser.close();
    await site.close();
  }
});
