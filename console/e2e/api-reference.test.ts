import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

describe.skipIf(noBrowser !== null)("the API reference in a browser", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  /** Starting swagger-ui takes seconds, so the tests share the page. */
  let page: Page;

  beforeAll(async () => {
    gateway = await startGateway();
    browser = await openBrowser(gateway.url);
    page = await browser.page();
    await page.goto("/docs#/models/listModels");
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test("opens at an operation, sends a call with the entered key, and does not violate the content security policy", async () => {
    await page.locator(".btn.authorize").first().click();
    await page.locator(".auth-container input").first().fill(gateway.key);
    await page.locator(".modal-btn.authorize").first().click();
    await page.locator(".btn-done").first().click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Execute" }).click();
    await page.locator(".live-responses-table").getByText('"demo"').first().waitFor();
    expect(browser.faults).toEqual([]);
  });

  test("shows one section at a time, chosen with the keyboard or by the address, and keeps the key", async () => {
    const section = page.getByLabel("Section");
    const operation = (id: string) => page.locator(`#operations-${id}`);
    await section.focus();
    await page.keyboard.type("usage");
    await operation("usage-getUsage").waitFor();
    expect(await operation("models-listModels").count()).toBe(0);
    await page.locator(".btn.authorize.locked").waitFor();

    await page.goBack();
    await operation("models-listModels").locator(".opblock-body").waitFor();
    expect(await section.inputValue()).toBe("models");

    await page.evaluate("location.hash = '/admin-key-requests/keyRequestsList'");
    await operation("admin-key-requests-keyRequestsList").locator(".opblock-body").waitFor();
    expect(await section.inputValue()).toBe("admin-key-requests");
  });

  test("fits a phone without horizontal scrolling, also with an operation open", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.locator(".opblock-body").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  });
});
