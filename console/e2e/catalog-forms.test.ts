import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { email, type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo, waitUntilLoaded } from "./populated/all-pages.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";

describe.skipIf(noBrowser !== null)("the forms of providers, models and settings", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ models: ["sim-one", "sim-two", "sim-three"] });
    ({ ada, browser } = opened);
    const account = {
      id: "main",
      kind: "openai-compatible",
      base_url: opened.simulator.url,
      allow_private_network: true,
    };
    await ada.call("providers.create", { body: account });
    const deployments = [{ provider: "main", upstream_model: "sim-one" }];
    await ada.call("models.create", { body: { name: "sim-one", type: "chat", deployments } });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  async function open(path: string): Promise<void> {
    await navigateTo(page, `/console/${path}`);
  }

  test("the setup line of a new installation is rendered with the page, so content does not move later", async () => {
    const bare = await page.context().newPage();
    await bare.addInitScript(`new MutationObserver(() => {
      if (document.querySelector(".page") !== null && document.querySelector(".next-step") === null) {
        document.documentElement.dataset.pageWithoutLine = "";
      }
    }).observe(document, { childList: true, subtree: true })`);
    const program = bare.waitForResponse(/\/page-[^/]*\.js$/);
    await bare.route(/\/next-step-[^/]*\.js$/, async (route) => {
      await program;
      await route.continue();
    });
    await bare.goto("/console/settings");
    await bare.getByRole("complementary", { name: "First steps" }).waitFor();
    await bare.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    expect(await bare.locator("html[data-page-without-line]").count()).toBe(0);
    await bare.close();
  });

  test("imports all models of an account with their owners, except models that are already served", async () => {
    await open("providers/main?tab=import");
    await page.getByRole("checkbox", { name: "Select all" }).check();
    await page.getByText("1 model that is already served was skipped").waitFor();
    expect(await page.getByRole("checkbox", { name: /sim-one/ }).isChecked()).toBe(false);
    await page.getByRole("button", { name: "Import 2 models" }).click();
    await page.getByText("2 models imported").waitFor();
    const { data } = await ada.call("providers.upstreamModels", { params: { provider: "main" } });
    const errors = data.find(({ id }) => id === "sim-two")?.owned_by;
    expect(errors).toBeString();
    const model = await ada.call("models.show", { params: { model: "sim-two" } });
    expect(model.owned_by).toBe(errors ?? "");
  });

  test("an incomplete form shows an error at each missing field and focuses the first", async () => {
    await open("providers?add=openai");
    const form = page.getByRole("dialog");
    await form.getByRole("textbox", { name: "Name" }).fill("");
    await form.getByRole("button", { name: "Save and test" }).click();
    expect(await form.getByText("Enter a name.").count()).toBe(1);
    expect(await form.getByText("Enter the API key.").count()).toBe(1);
    const name = form.getByRole("textbox", { name: "Name" });
    expect(await name.and(form.locator(":focus")).count()).toBe(1);
    expect(await form.getByRole("alert").count()).toBe(0);
    await name.fill("main");
    await form.getByText("A provider with this name already exists.").waitFor();
  });

  test("a drawer with input asks before it closes", async () => {
    await open("models?add=1");
    const form = page.getByRole("dialog", { name: "Add a model" });
    await form.getByRole("textbox", { name: "Name" }).fill("half-typed");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Stay" }).click();
    expect(await form.getByRole("textbox", { name: "Name" }).inputValue()).toBe("half-typed");
    await page.keyboard.press("Escape");
    await page.getByText("Leave without saving?").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Leave without saving?").waitFor({ state: "detached" });
    expect(await form.getByRole("textbox", { name: "Name" }).inputValue()).toBe("half-typed");
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Leave" }).click();
    await form.waitFor({ state: "detached" });
    await open("models?add=1");
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.waitFor({ state: "detached" });
  });

  test("a drawer without its own check and a dialog ask before input is lost, also when the page is left", async () => {
    // By links, as the back button needs the router's own history.
    await page.goto("/console/models?workspace=default");
    await page.getByRole("link", { name: "API keys", exact: true }).click();
    await page.getByRole("button", { name: "Create key" }).first().click();
    const drawer = page.getByRole("dialog", { name: "Create key" });
    await drawer.getByRole("textbox", { name: "Name" }).fill("half-typed");
    await page.keyboard.press("Escape");
    await page.getByText("Leave without saving?").waitFor();
    await page.getByRole("button", { name: "Stay" }).click();
    expect(await drawer.getByRole("textbox", { name: "Name" }).inputValue()).toBe("half-typed");
    await page.evaluate("history.back()");
    await page.getByText("Leave without saving?").waitFor();
    await page.getByRole("button", { name: "Stay" }).click();
    expect(await drawer.getByRole("textbox", { name: "Name" }).inputValue()).toBe("half-typed");
    await drawer.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Leave" }).click();
    await drawer.waitFor({ state: "detached" });
    await open("settings?tab=users&create=administrator");
    const dialog = page.getByRole("dialog", { name: "Invite an administrator" });
    await dialog.getByRole("textbox").first().fill("bob@example.com");
    await page.keyboard.press("Escape");
    await page.getByText("Leave without saving?").waitFor();
    await page.getByRole("button", { name: "Leave" }).click();
    await dialog.waitFor({ state: "detached" });
    await open("workspaces/default?tab=members");
    await page.getByRole("button", { name: "Invite" }).first().click();
    const invite = page.getByRole("dialog");
    await invite.getByRole("textbox").first().fill("bob@example.com");
    await invite.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Stay" }).click();
    expect(await invite.getByRole("textbox").first().inputValue()).toBe("bob@example.com");
    await invite.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Leave" }).click();
    await invite.waitFor({ state: "detached" });
  });

  test.each([
    ["settings", "Keep captures", "Users", "General"],
    ["providers/main?tab=settings", "Connect timeout", "Overview", "Settings"],
  ])("input in %s is kept when another tab is opened", async (path, label, other, own) => {
    await open(path);
    if (path !== "settings") await page.getByText("Advanced:").click();
    await page.getByLabel(label).fill("17");
    await page.getByRole("tab", { name: other }).click();
    await page.getByText("Leave without saving?").waitFor();
    await page.getByRole("button", { name: "Stay" }).click();
    expect(await page.getByLabel(label).inputValue()).toContain("17");
    expect(await page.getByRole("tab", { name: own }).getAttribute("aria-selected")).toBe("true");
    await page.getByRole("tab", { name: other }).click();
    await page.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("tab", { name: other, selected: true }).waitFor();
  });

  test("the ledger export shows field errors, keeps the input, and can be turned off again", async () => {
    await open("settings");
    const section = page.getByRole("region", { name: "Ledger export" });
    const save = page.getByRole("button", { name: "Save settings" });
    const stored = async () => (await ada.call("settings.show", {})).settings.ledger?.export;
    await section.getByRole("switch", { name: "Copy to a bucket" }).click();
    await section.getByText("Not set").waitFor();
    await section.getByRole("textbox", { name: "Endpoint" }).fill("minio:9000");
    await save.click();
    await section.getByText("Enter the bucket's name.").waitFor();
    await section.getByText("Enter a full address, such as http://minio:9000.").waitFor();
    await section.getByRole("textbox", { name: "Bucket" }).fill("acme-usage");
    await section.getByRole("textbox", { name: "Endpoint" }).fill("http://127.0.0.1:9");
    await save.click();
    await section.getByText("nothing copied yet").waitFor();
    expect(await stored()).toEqual({ bucket: "acme-usage", endpoint: "http://127.0.0.1:9" });
    await section.getByRole("switch", { name: "Copy to a bucket" }).click();
    await save.click();
    await page.getByRole("button", { name: "Discard" }).waitFor({ state: "detached" });
    expect(await stored()).toBeUndefined();
  });

  test("an announcement is on every page until it is closed, and again when its text changes", async () => {
    await open("settings");
    const announcement = page.getByRole("region", { name: "Announcement" });
    const announce = async (text: string) => {
      await page.getByLabel("Announcement").last().fill(text);
      await page.getByRole("button", { name: "Save settings" }).click();
    };
    await announce("Maintenance on Monday <b>at 6</b>");
    await announcement.getByText("Maintenance on Monday <b>at 6</b>").waitFor();
    await announcement.getByRole("button", { name: "Close the announcement" }).click();
    await announcement.waitFor({ state: "detached" });
    await announce("Maintenance is over");
    await announcement.getByText("Maintenance is over").waitFor();
    await open("models");
    await announcement.getByText("Maintenance is over").waitFor();
  });

  test("a provider form in Chinese translates every setting", async () => {
    const chinese = await ada.page(browser, { locale: "zh-CN", viewport: { width: 1_440, height: 900 } });
    await chinese.goto("/console/providers?add=ark");
    await waitUntilLoaded(chinese);
    const form = chinese.getByRole("dialog");
    await form.getByText("添加 火山方舟").waitFor();
    await form.locator("summary").click();
    const labels = await form.locator("label, .mantine-InputWrapper-label").allInnerTexts();
    const same = /^(?:Base URL|Access Key ID|Secret Access Key)(?: \*)?$/;
    const english = labels.filter((label) => label.trim() !== "" && !/\p{Script=Han}/u.test(label));
    expect(english.filter((label) => !same.test(label.trim()))).toEqual([]);
    await browser.leave(chinese);
  });

  test("a price can be typed with decimals and trailing zeros, and is stored as typed", async () => {
    await open("models/sim-one?tab=price");
    const [input, output] = [
      page.getByRole("textbox", { name: "Input", exact: true }).first(),
      page.getByRole("textbox", { name: "Output", exact: true }).first(),
    ];
    await input.pressSequentially("0.05");
    await output.pressSequentially("1.50");
    expect([await input.inputValue(), await output.inputValue()]).toEqual(["$0.05", "$1.50"]);
    await page.getByRole("button", { name: "Add long-context price" }).click();
    const above = page.getByRole("textbox", { name: "Above" });
    await above.fill("");
    await above.pressSequentially("128000");
    expect(await above.inputValue()).toBe("128,000");
    // Until the refetch, the page shows the values of the response, not the old ones.
    const held = Promise.withResolvers<void>();
    await page.route("**/api/models/sim-one", async (route) => {
      if (route.request().method() === "GET") await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Save price" }).click();
    await page.getByText("This price is not saved yet.").waitFor({ state: "detached" });
    expect([await input.inputValue(), await output.inputValue()]).toEqual(["$0.05", "$1.5"]);
    held.resolve();
    await page.unrouteAll({ behavior: "wait" });
    const { price } = await ada.call("models.show", { params: { model: "sim-one" } });
    expect(price).toEqual({ input: 0.05, output: 1.5, long_context: { above: 128_000 } });
  });

  test("shows that someone else saved a provider, and does not send unchanged fields", async () => {
    await page.clock.install();
    await open("providers/main?tab=settings");
    await page.getByText("Advanced:").click();
    await ada.call("providers.update", { params: { provider: "main" }, body: { timeouts: { connect_ms: 4_321 } } });
    await page.clock.runFor(11_000);
    await page.getByLabel("Connect timeout").and(page.locator('[value^="4,321"]')).waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("switch", { name: /private/i }).click({ force: true });
    await ada.call("providers.update", { params: { provider: "main" }, body: { timeouts: { connect_ms: 5_432 } } });
    await page.clock.runFor(11_000);
    await page.getByText("Someone else saved changes").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByLabel("Connect timeout").and(page.locator('[value^="5,432"]')).waitFor();
    const provider = await ada.call("providers.show", { params: { provider: "main" } });
    expect([provider.timeouts.connect_ms, provider.allow_private_network]).toEqual([5_432, false]);
    await ada.call("providers.update", { params: { provider: "main" }, body: { allow_private_network: true } });
    await browser.leave(page);
    page = await ada.page(browser, { viewport: { width: 1_440, height: 900 } });
  });

  test("a form stays open when the session ends and can be sent after signing in again", async () => {
    await browser.leave(page);
    const other = await signInAs(opened.gateway.url, email);
    page = await other.page(browser, { viewport: { width: 1_440, height: 900 } });
    await open("models?add=1");
    const form = page.getByRole("dialog", { name: "Add a model" });
    await form.getByRole("textbox", { name: "Name" }).fill("written-long-ago");
    await form.getByRole("combobox", { name: "Provider" }).click();
    await page.getByRole("option", { name: "main" }).click();
    await other.send("/api/auth/sign-out", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    await form.getByRole("button", { name: "Add model" }).click();
    const ended = page.getByRole("dialog", { name: "Your session has ended" });
    await ended.getByRole("textbox", { name: "Password" }).fill(password);
    await ended.getByRole("button", { name: "Sign in", exact: true }).click();
    await ended.waitFor({ state: "detached" });
    expect(await form.getByRole("textbox", { name: "Name" }).inputValue()).toBe("written-long-ago");
    await form.getByRole("button", { name: "Add model" }).click();
    await page.getByRole("heading", { level: 1, name: "written-long-ago" }).waitFor();
  });

  test("without the clipboard API, as over http, an id can be copied and a change undone", async () => {
    const far = await ada.page(browser, { locale: "en-GB", viewport: { width: 1_440, height: 900 } });
    await far.addInitScript(() => {
      // As if the console was opened over http from another machine.
      Reflect.deleteProperty(Navigator.prototype, "clipboard");
      Reflect.deleteProperty(Crypto.prototype, "randomUUID");
      document.addEventListener("copy", () => {
        const { activeElement: box } = document;
        document.documentElement.dataset["copied"] = box instanceof HTMLTextAreaElement ? box.value : "";
      });
    });
    const [workspace] = (await ada.call("workspaces.list", {})).data;
    const params = { workspace: workspace?.slug ?? "" };
    const { key } = await ada.call("keys.create", { params, body: { name: "far" } });
    await far.goto(`/console/keys/${key.id}`);
    await far.getByRole("button", { name: "Copy ID" }).click();
    expect(await far.locator("html").getAttribute("data-copied")).toBe(key.id);
    await far.getByRole("button", { name: "More actions" }).click();
    await far.getByRole("menuitem", { name: "Disable" }).click();
    await far.getByRole("button", { name: "Undo" }).click();
    await far.getByRole("button", { name: "More actions" }).click();
    await far.getByRole("menuitem", { name: "Disable" }).waitFor();
    await browser.leave(far);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});
