import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";

describe.skipIf(noBrowser !== null)("a provider without a stored key", () => {
  let opened: OpenedConsole;
  beforeAll(async () => {
    opened = await openConsole();
  });
  afterAll(() => opened?.stop());

  async function newBedrock(page: Page) {
    await page.goto("/console/providers");
    await page.getByRole("button", { name: "Add provider" }).first().click();
    await page.getByLabel("Find a provider type").fill("bedrock");
    await page
      .getByRole("button", { name: /^Amazon Bedrock/ })
      .first()
      .click();
    return page.getByRole("dialog");
  }

  test("asks only for the fields of the chosen authentication, and is stored without a secret", async () => {
    const page = await opened.page({ viewport: { width: 360, height: 740 } });
    const form = await newBedrock(page);
    await form.getByLabel("Access key ID").waitFor();
    expect(await form.getByLabel("File with the identity token").count()).toBe(0);
    await form.getByRole("combobox", { name: "Authentication" }).click();
    await page.getByRole("option", { name: "web_identity" }).click();
    await form.getByLabel("File with the identity token").waitFor();
    expect(await form.getByLabel("Access key ID").count()).toBe(0);
    expect(await form.getByLabel("API key", { exact: true }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await form.getByLabel("Name").first().fill("keyless");
    await form.getByLabel("Region").fill("eu-west-1");
    await form.getByRole("button", { name: "Save and test" }).click();
    await page.getByRole("heading", { name: "keyless" }).waitFor();
    const { settings, has_api_key } = await opened.ada.call("providers.show", { params: { provider: "keyless" } });
    expect([settings, has_api_key]).toEqual([{ auth: "web_identity", region: "eu-west-1" }, false]);
  });
});
