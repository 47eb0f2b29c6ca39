import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { accessibilityViolations } from "./accessibility.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const acme = { workspace: "acme" };

describe.skipIf(noBrowser !== null)("several keys at once", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada, browser } = opened);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
    await ada.call("keys.create", { params: acme, body: { name: "one", limits: { rpm: 5 } } });
    await ada.call("keys.create", { params: acme, body: { name: "two" } });
  });

  afterEach(() => browser?.leave());
  afterAll(() => opened?.stop());

  const limits = async () => (await ada.call("keys.list", { params: acme })).data.map((key) => [key.name, key.limits]);

  test("get limits together, and each gets its own back with Undo", async () => {
    const page = await ada.page(browser);
    await page.goto("/console/keys?workspace=acme");
    await page.getByRole("checkbox", { name: "one" }).check();
    await page.getByRole("checkbox", { name: "two" }).check();
    await page.getByRole("button", { name: "Set limits" }).click();
    const dialog = page.getByRole("dialog", { name: /^Set the limits/ });
    await dialog.getByLabel("Requests per minute").fill("60");
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Set the limits of 2 keys" }).click();
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.waitFor();
    expect(await limits()).toEqual([
      ["one", { rpm: 60 }],
      ["two", { rpm: 60 }],
    ]);
    await undo.click();
    await page.getByText("2 keys restored.").waitFor();
    expect(await limits()).toEqual([
      ["one", { rpm: 5 }],
      ["two", {}],
    ]);
    expect(browser.faults).toEqual([]);
  });
});
