import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import type { Page } from "playwright-core";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { startLargeGateway } from "./populated/large-gateway.ts";
import { password } from "./signed-in-user.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

/** How many clicks a newcomer needs for the first tasks. Typing and Enter are free. */
describe.skipIf(noBrowser !== null)("the number of clicks", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  let simulator: RunningSimulator;
  let page: Page;

  beforeAll(async () => {
    simulator = serveSimulator({ models: ["sim-large"] });
    gateway = await startGateway();
    browser = await openBrowser(gateway.url);
    page = await browser.page();
    await page.addInitScript(countClicks);
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    simulator?.stop();
  });

  const clicks = () => page.evaluate<number>("Number(sessionStorage.getItem('clicks'))");
  const restart = () => page.evaluate("sessionStorage.removeItem('clicks')");

  test("from the setup link to the first streamed response: at most 4", async () => {
    await page.goto(gateway.consoleLink);
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByLabel("Repeat password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Playground" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("Hello");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Copy response" }).waitFor();
    expect(await clicks()).toBeLessThanOrEqual(4);
  });

  test("a provider, added and tested: at most 3; a private address is allowed and tested again", async () => {
    await page.goto("/console/");
    await restart();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Providers" }).click();
    await page.getByRole("button", { name: "Add provider" }).first().click();
    await page
      .getByRole("list", { name: "Popular" })
      .getByRole("button", { name: /^OpenAI-compatible/ })
      .click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").first().fill("own-server");
    await form.getByLabel("API key", { exact: true }).fill("sk-of-the-account-0123456789");
    await form.getByLabel("Base URL").fill(simulator.url);
    await page.keyboard.press("Enter");
    await page.getByText("Test failed.").waitFor();
    expect(await clicks()).toBeLessThanOrEqual(3);
    await page.getByRole("button", { name: "Edit settings" }).click();
    await page.getByRole("switch", { name: "Allow private network" }).check({ force: true });
    await page.getByRole("button", { name: "Save and test" }).click();
    await page.getByText("Test passed.").waitFor();
  });

  test("a key with a budget, on a gateway with a thousand models and five hundred keys: at most 4", async () => {
    const large = await startLargeGateway();
    const many = await openBrowser(large.gateway.url);
    try {
      const other = await large.ada.page(many);
      await other.addInitScript(countClicks);
      await other.goto("/console/?workspace=large");
      await other.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "API keys" }).click();
      await other.getByRole("button", { name: "Create key" }).first().click();
      const form = other.getByRole("dialog", { name: "Create key" });
      await form.getByLabel("Name").first().fill("with a budget");
      await form
        .getByLabel(/^Budget/)
        .first()
        .fill("25");
      await form.getByRole("button", { name: "Create key" }).click();
      await other.getByRole("region", { name: "secret" }).waitFor();
      expect(await other.evaluate<number>("Number(sessionStorage.getItem('clicks'))")).toBeLessThanOrEqual(4);
      const { data } = await large.ada.call("keys.list", {
        params: { workspace: "large" },
        query: { search: "with a budget" },
      });
      expect(data.map(({ budget }) => budget?.usd)).toEqual([25]);
      expect(many.faults).toEqual([]);
    } finally {
      await many.close();
      await large.stop();
    }
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});

const countClicks = `addEventListener("click", (event) => {
  if (event.isTrusted && event.detail > 0) sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
}, true)`;
