import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { password } from "./signed-in-user.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

/** The steps of a new administrator in the console. The upstream is the simulator. */
describe.skipIf(noBrowser !== null)("the first run", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  let simulator: RunningSimulator;

  beforeAll(async () => {
    simulator = serveSimulator({ models: ["sim-large", "sim-small"] });
    gateway = await startGateway();
    browser = await openBrowser(gateway.url);
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    simulator?.stop();
  });

  test("leads from the setup link to the first streamed response and its explanation", async () => {
    const page = await browser.page();
    await page.goto(gateway.consoleLink);
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByLabel("Repeat password").fill(password);
    await page.getByRole("button", { name: "Create administrator" }).click();
    const navigation = page.getByRole("navigation", { name: "Pages" });

    // Adds a provider, which is tested as soon as it is saved.
    await navigation.getByRole("link", { name: "Providers" }).click();
    await page.getByRole("button", { name: "Add provider" }).first().click();
    await page.getByLabel("Find a provider type").fill("compatible");
    await page
      .getByRole("button", { name: /^OpenAI-compatible/ })
      .first()
      .click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").first().fill("first-account");
    await form.getByLabel("API key", { exact: true }).fill("sk-of-the-account-0123456789");
    await form.getByLabel("Base URL").fill(simulator.url);
    await form.getByText("This address looks private").waitFor();
    await form.getByRole("switch", { name: "Allow private network" }).check({ force: true });
    await form.getByRole("button", { name: "Save and test" }).click();
    await page.getByText("Test passed.").waitFor();
    await page.getByRole("button", { name: "Import models" }).click();
    await page.getByRole("checkbox", { name: /sim-large/ }).check();
    await page.getByRole("button", { name: "Import 1 model" }).click();
    await page.getByRole("status").getByText("sim-large").first().waitFor();

    // Creates a key; its secret is shown once.
    await navigation.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "Create key" }).first().click();
    const draft = page.getByRole("dialog");
    await draft.getByLabel("Name").first().fill("first program");
    await draft.getByRole("button", { name: "Create key" }).click();
    const shown = page.getByRole("region", { name: "secret" });
    const secret = (await shown.innerText()).trim();
    expect(secret).toMatch(/^sk-sluice-\w+$/);
    expect(await page.getByRole("button", { name: "Open in playground" }).isDisabled()).toBe(true);
    await page.getByLabel("I have saved it").check();
    await page.getByRole("button", { name: "Open in playground" }).click();

    // Sends the first request and streams its response.
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const model = page.getByRole("combobox", { name: "Model" });
    await model.click();
    await page.getByRole("option", { name: /sim-large/ }).click();
    simulator.simulator.addPreset({ model: "sim-large", script: { tokens: 20, event_ms: 40 }, count: 1 });
    await page.getByRole("textbox", { name: "Message" }).fill("Say hello to the newcomer");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await page.getByRole("button", { name: "Copy response" }).waitFor();

    // The request is listed with its explanation.
    await navigation.getByRole("link", { name: "Requests" }).click();
    await page
      .getByRole("link", { name: /sim-large/ })
      .or(page.getByRole("row", { name: /sim-large/ }).getByRole("link"))
      .first()
      .click();
    await page.waitForURL(/[?&]request=req_/);
    await page.getByText("first-account").first().waitFor();
    await page.getByText("first program").first().waitFor();
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});
