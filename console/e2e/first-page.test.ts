import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

const program = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => Bun.which(name))
  .find((path) => path !== null);
const built = existsSync(join(import.meta.dir, "..", "dist", "index.html"));
const reason = program === undefined ? "no Chromium is installed" : built ? null : "the console is not built";
if (reason !== null) console.warn(`The browser tests are skipped: ${reason}.`);

/** Runs as root in a container too, and looks nothing up by itself. */
const quietBrowser = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** In order: set-up happens once in the life of a gateway, and the pages after it build on what came before. */
describe.skipIf(reason !== null)("the console in a browser", () => {
  let browser: Browser;
  let gateway: StartedGateway;
  const faults: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    browser = await chromium.launch({ executablePath: program ?? "", args: quietBrowser });
  }, 40_000);

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(10_000);
    page.on("console", (message) => {
      // An answer that is not 2xx is written to the browser's console by the browser itself.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        faults.push(message.text());
    });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(gateway.url) && !request.url().startsWith("data:")) faults.push(request.url());
    });
    return page;
  }

  async function enterKey(page: Page, key: string): Promise<void> {
    await page.getByLabel("API key").first().fill(key);
    await page.keyboard.press("Enter");
  }

  test("the set-up link makes the first administrator, and its token leaves the address bar at once", async () => {
    const page = await openPage();
    await page.goto(gateway.consoleLink);
    await page.getByLabel("E-mail address").fill("ada@example.com");
    expect(page.url()).toBe(`${gateway.url}/console/`);
    const passwords = page.locator("input[autocomplete=new-password]");
    await passwords.nth(0).fill("too short");
    await passwords.nth(1).fill("too short");
    await page.getByRole("button", { name: "Create administrator" }).click();
    await page.getByText("3 more characters are needed.").waitFor();
    await passwords.nth(0).fill("correct horse battery");
    await passwords.nth(1).fill("correct horse battery");
    await page.getByRole("button", { name: "Create administrator" }).click();
    await page.getByRole("heading", { name: "Try a key" }).waitFor();
    await page.goto("about:blank");
    await page.goto(gateway.consoleLink);
    await page.getByText("Set-up is already done").waitFor();
  });

  test("a key shows its models, a streamed answer with who served it, and its usage", async () => {
    const page = await openPage();
    await page.goto(`${gateway.url}/console/`);
    await enterKey(page, "sk-sluice-wrong");
    await page.getByRole("alert").getByText("invalid_api_key").waitFor();
    await enterKey(page, gateway.key);
    await page.getByRole("button", { name: /^demo/ }).waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Say hello.");
    await page.keyboard.press("Enter");
    const turn = page.getByRole("article");
    await turn.getByText("tokens out").waitFor();
    expect(await turn.locator("dl").textContent()).toMatch(/served by\s*demo/);
    await turn.getByText("The same call as curl").click();
    const curl = await turn.locator("pre").textContent();
    expect(curl).toContain(`curl -N ${gateway.url}/v1/chat/completions`);
    expect(curl).not.toContain(gateway.key);
    await page.getByRole("rowheader", { name: "demo" }).waitFor();
  });

  test("a running answer can be stopped from the keyboard, and the key is gone when it is forgotten", async () => {
    const page = await openPage();
    await page.goto(`${gateway.url}/console/`);
    await enterKey(page, gateway.key);
    await page.getByRole("textbox", { name: "Message" }).fill('[[sim {"tokens":400,"event_ms":50}]] Count.');
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Stop" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("You stopped this answer").waitFor();
    await page.getByRole("button", { name: "Forget key" }).click();
    await page.getByRole("heading", { name: "Try a key" }).waitFor();
    expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain("sk-sluice");
  });

  test("at 360 pixels, light or dark, nothing sticks out sideways", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await openPage({ viewport: { width: 360, height: 740 }, colorScheme });
      await page.goto(`${gateway.url}/console/`);
      await enterKey(page, gateway.key);
      await page.getByRole("heading", { name: "Usage of this key" }).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      expect(await page.locator("html").getAttribute("data-mantine-color-scheme")).toBe(colorScheme);
    }
  });

  test("the API reference opens, and calls with a key that is entered there", async () => {
    const page = await openPage();
    await page.goto(`${gateway.url}/docs`);
    await page.locator(".btn.authorize").first().click();
    await page.locator(".auth-container input").first().fill(gateway.key);
    await page.locator(".modal-btn.authorize").first().click();
    await page.locator(".btn-done").first().click();
    await page.locator("#operations-models-listModels .opblock-summary-control").click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Execute" }).click();
    await page.locator(".live-responses-table").getByText('"demo"').first().waitFor();
  });

  test("no page breaks the content policy, throws, or loads anything from elsewhere", () => {
    expect(faults).toEqual([]);
  });
});
