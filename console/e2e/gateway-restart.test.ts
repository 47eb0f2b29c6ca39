import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";

const assets = join(import.meta.dir, "..", "dist", "assets");
const lost = "Connection to the gateway lost. Retrying…";

describe.skipIf(noBrowser !== null)("the console while the gateway restarts", () => {
  let opened: OpenedConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole();
    page = await opened.page({});
  });

  afterAll(() => opened?.stop());

  test("shows that the connection is lost, opens a page and the inbox that were not loaded yet, and recovers", async () => {
    // Pages are usually loaded in advance; here none is.
    await page.addInitScript("window.requestIdleCallback = () => 0");
    await navigateTo(page, "/console/keys?workspace=default");
    await opened.gateway.restart(async () => {
      await page.getByRole("link", { name: "Models", exact: true }).click();
      await page.getByText(lost).waitFor();
      await page.getByRole("button", { name: "Alerts, none unread" }).click();
      expect(await page.getByText("This page crashed").count()).toBe(0);
    });
    await page.getByText(lost).waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
    await page.getByText("No recent alerts").waitFor();
    expect(await page.getByText("This page crashed").count()).toBe(0);
  });

  test("keeps the input of an open form, which can be saved afterwards", async () => {
    await navigateTo(page, "/console/keys?workspace=default&create=1");
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByRole("textbox", { name: "Name" }).fill("half-typed");
    await opened.gateway.restart(async () => {
      await form.getByRole("button", { name: "Create key" }).click();
      await page.getByText(lost).waitFor();
    });
    await page.getByText(lost).waitFor({ state: "detached" });
    expect(await form.getByRole("textbox", { name: "Name" }).inputValue()).toBe("half-typed");
    await form.getByRole("button", { name: "Create key" }).click();
    await page.getByText("Key half-typed created").waitFor();
  });

  test("loads the next page anew after an upgrade", async () => {
    const other = await opened.ada.page(opened.browser);
    await navigateTo(other, "/console/keys?workspace=default");
    await other.evaluate("window.loadedBefore = true");
    const isLoadedBefore = () => other.evaluate<boolean>("window.loadedBefore === true");
    // The gateway that starts again has another version.
    await other.route("**/api/session", async (route) => {
      const answer = await route.fetch().catch(() => null);
      if (answer === null) return route.abort();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), version: "99.0.0" } });
    });
    await opened.gateway.restart(async () => {
      await other.getByRole("link", { name: "Models", exact: true }).click();
      await other.getByText(lost).waitFor();
    });
    await other.getByText(lost).waitFor({ state: "detached" });
    expect(await isLoadedBefore()).toBe(true);
    // The console reads the new version a moment after the connection is back.
    let name = "";
    await until(async () => {
      name = name === "Workspaces" ? "Alerts" : "Workspaces";
      await other.getByRole("link", { name, exact: true }).click();
      return !(await isLoadedBefore().catch(() => false));
    });
    await other.getByRole("heading", { level: 1, name }).waitFor();
    const loaded = await other.evaluate<string>("performance.getEntriesByType('navigation')[0].name");
    expect(new URL(loaded).pathname).toBe(`/console/${name.toLowerCase()}`);
    await other.close();
  });

  test("pages that were loaded in advance open while the gateway is down", async () => {
    const other = await opened.ada.page(opened.browser);
    await other.addInitScript('Object.defineProperty(navigator.connection, "saveData", { value: false })');
    // By default, a browser lists 250 loaded files, and the console has more.
    await other.addInitScript("performance.setResourceTimingBufferSize(10_000)");
    await navigateTo(other, "/console/");
    const pages = readdirSync(assets).filter((name) => /^page-.*\.js$/.test(name)).length;
    const loaded = `performance.getEntriesByType("resource").filter(({ name }) => /\\/page-[^/]*\\.js$/.test(name)).length`;
    await until(async () => (await other.evaluate<number>(loaded)) >= pages);
    await other.waitForLoadState("networkidle");
    await opened.gateway.restart(async () => {
      await other.getByRole("link", { name: "Audit log" }).click();
      await other.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
      await other.getByText(lost).waitFor();
    });
    await other.getByText(lost).waitFor({ state: "detached" });
  });
});
