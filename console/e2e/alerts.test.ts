import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";

const secret = "sk-alerts-0123456789-0123456789";
/** 65 of the 75 tokens that the budget allows. */
const prompt = `[[sim {"tokens":65}]] Hello`;

/** With a key that its first call takes over its daily budget. */
const config = simulatedModels(
  { fast: { input: 1, output: 2_000 } },
  {
    workspaces: [
      {
        ...{ slug: "acme", name: "Acme", groups: [{ name: "default", models: ["*"] }] },
        keys: [{ name: "ci", secret, budget: { usd: 0.15, period: "day" } }],
      },
    ],
  },
);

describe.skipIf(noBrowser !== null)("alerts in the console", () => {
  let opened: OpenedConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  test("an administrator creates and tests a channel; its address is never shown again", async () => {
    await navigateTo(page, "/console/alerts?tab=channels&workspace=-");
    await page.getByRole("button", { name: "Create channel" }).first().click();
    const drawer = page.getByRole("dialog", { name: "Create channel" });
    await drawer.getByRole("textbox", { name: "Name" }).fill("On call");
    await drawer.getByRole("combobox", { name: "Type" }).click();
    await page.getByRole("option", { name: "Slack" }).click();
    await drawer.getByRole("textbox", { name: "URL" }).fill("https://127.0.0.1:9/secret-path");
    await drawer.getByRole("button", { name: "Create channel" }).click();
    await page.getByRole("row", { name: /On call Slack 127\.0\.0\.1:9 Installation/ }).waitFor();
    expect(await page.content()).not.toContain("secret-path");
    await page.getByRole("button", { name: "Send a test to On call" }).click();
    await page.getByText("The address could not be reached, or is not public.").waitFor();
    await page.getByRole("dialog", { name: "Test of On call" }).getByRole("button", { name: "Close" }).last().click();
  });

  test("a rule on batches without progress takes the hours, also on a phone", async () => {
    const phone = await opened.page();
    await phone.setViewportSize({ width: 360, height: 780 });
    await navigateTo(phone, "/console/alerts?tab=rules&workspace=-");
    await phone.getByRole("button", { name: "Create rule" }).click();
    const drawer = phone.getByRole("dialog", { name: "Create rule" });
    await drawer.getByRole("combobox", { name: "Type" }).click();
    await phone.getByRole("option", { name: "Batch without progress" }).click();
    await drawer.getByRole("textbox", { name: "Hours without progress" }).fill("30");
    expect(await violationsInBothThemes(phone)).toEqual([]);
    await drawer.getByRole("button", { name: "Create rule" }).click();
    await phone.getByText("no row of a batch ends for 30 hours").first().waitFor();
    await phone.close();
  });

  test("a new rule opens an alert, which the inbox shows until it is read", async () => {
    const bell = page.getByRole("button", { name: /^Alerts, / });
    await navigateTo(page, "/console/alerts?tab=rules&workspace=-");
    await page.getByRole("row", { name: /^Budget .*80%, 100% of any budget/ }).waitFor();
    await page.getByRole("button", { name: "Create rule" }).click();
    const drawer = page.getByRole("dialog", { name: "Create rule" });
    await drawer.getByRole("textbox", { name: "Name" }).fill("First dollar");
    await drawer.getByRole("checkbox", { name: "On call" }).check();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await drawer.getByRole("button", { name: "Create rule" }).click();
    await page.getByRole("row", { name: /First dollar.*On call/ }).waitFor();
    const messages = [{ role: "user", content: prompt }];
    expect((await opened.chat(secret, { body: { messages, max_tokens: 70 } })).status).toBe(200);
    await until(async () => (await opened.ada.call("inbox.show")).data.length >= 2);
    await navigateTo(page, "/console/alerts?tab=history");
    await page.getByRole("button", { name: "Alerts, 2 unread" }).click();
    const item = page.getByRole("link", { name: /acme\/ci has used \$.* of its \$.* daily budget/ }).first();
    await item.waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("button", { name: "Mark all as read" }).click();
    await page.getByRole("button", { name: "Alerts, none unread" }).waitFor();
    await item.click();
    await page.waitForURL(/\/console\/limits\?workspace=acme&object=key/);
    await bell.waitFor();
  });

  test("lists open alerts of all workspaces with their messages, and filters by type", async () => {
    await navigateTo(page, "/console/alerts");
    const rows = page.getByRole("row", { name: /acme\/ci has used/ });
    await until(async () => (await rows.count()) === 2);
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page
      .getByRole("row", { name: /First dollar/ })
      .getByRole("button", { name: /^Messages about/ })
      .click();
    const drawer = page.getByRole("dialog", { name: "Alert" });
    await drawer.getByText("On call").waitFor();
    await page.keyboard.press("Escape");
    await navigateTo(page, "/console/alerts?kind=latency");
    await page.getByText("Nothing needs attention").waitFor();
    await navigateTo(page, "/console/alerts?tab=history");
    await page.getByText("No alerts yet").waitFor();
    expect(opened.browser.faults).toEqual([]);
  });
});
