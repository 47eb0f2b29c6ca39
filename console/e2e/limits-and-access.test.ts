import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const modelNames = Array.from(
  { length: 30 },
  (_, at) => `acme-research/experiment-${String(at).padStart(4, "0")}-mini`,
);

const config = simulatedModels(Object.fromEntries(modelNames.map((name) => [name, { input: 1, output: 2 }])), {
  users: [{ email: "grace@example.com", name: "Grace", workspaces: [{ workspace: "acme", role: "member" }] }],
  workspaces: [{ slug: "acme", name: "acme", models: ["*"], groups: [{ name: "default" }], keys: [{ name: "web" }] }],
});

describe.skipIf(noBrowser !== null)("limits, budgets and model access in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config });
    ({ ada } = opened);
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  async function open(path: string): Promise<void> {
    await navigateTo(page, path);
  }

  test("shows a budget that refuses calls as exhausted on the limits page, in the key list and on the key page", async () => {
    const params = { workspace: "acme" };
    const budget = { usd: 0.001, period: "month" } as const;
    const { key, secret } = await ada.call("keys.create", { params, body: { name: "spent", budget } });
    const answer = await opened.chat(secret, { body: { model: modelNames[0], max_tokens: 4_000 } });
    expect(answer.status).toBe(402);
    await open("/console/limits?workspace=acme");
    const stat = page.getByRole("button", { name: /^Exhausted/ });
    expect(await stat.locator(".stat-value").innerText()).toBe("1");
    await page.getByRole("row", { name: /acme\/spent.*Exhausted.*Refusing requests/ }).waitFor();
    await open("/console/keys?workspace=acme");
    await page.getByRole("row", { name: /spent.*Exhausted/ }).waitFor();
    await open(`/console/keys/${key.id}?workspace=acme`);
    await page.locator(".status", { hasText: "Exhausted" }).first().waitFor();
  });

  test("shows an exhausted workspace budget in the list, on the workspace page and on its groups", async () => {
    await ada.call("workspaces.create", { body: { slug: "empty", name: "Empty", budget: { usd: 0, period: "day" } } });
    await open("/console/workspaces");
    await page.getByRole("row", { name: /Empty.*Exhausted/ }).waitFor();
    expect(await page.getByRole("row", { name: /acme.*Exhausted/ }).count()).toBe(0);
    // The list and the page show the same role.
    expect(await page.getByRole("row", { name: /Empty.*Administrator/ }).count()).toBe(1);
    await open("/console/workspaces/empty");
    await page.locator(".status", { hasText: "Exhausted" }).first().waitFor();
    await page.getByText("Administrator", { exact: true }).first().waitFor();
    await open("/console/workspaces/empty?tab=groups");
    await page.getByRole("row", { name: /default.*Exhausted/ }).waitFor();
  });

  test("the access table shows only models with different access, with unique short names", async () => {
    const params = { workspace: "acme" };
    await ada.call("keys.create", { params, body: { name: "narrow", models: modelNames.slice(2) } });
    await open("/console/workspaces/acme?tab=access");
    await page.getByText("28 models with the same access for every key are not shown.").waitFor();
    expect(await page.locator(".matrix-model").allInnerTexts()).toEqual(["…0000-mini", "…0001-mini"]);
    await page.getByText("All models", { exact: true }).click();
    await page.locator(".matrix-model").nth(29).waitFor();
    const names = await page.locator(".matrix-model").allInnerTexts();
    expect(new Set(names).size).toBe(30);
  });

  test("an admin sets and clears the owner of a key", async () => {
    const params = { workspace: "acme" };
    const { key } = await ada.call("keys.create", { params, body: { name: "handed over" } });
    const owner = async () =>
      (await ada.call("keys.show", { params: { ...params, key: key.id } })).owner?.email ?? null;
    await open(`/console/keys/${key.id}?workspace=acme`);
    const edit = page.getByRole("button", { name: "Edit key" });
    const form = page.getByRole("dialog");
    const field = form.getByRole("combobox", { name: "Owner" });
    const save = form.getByRole("button", { name: "Save key" });
    await edit.click();
    await field.click();
    await page.getByRole("option", { name: /grace@example\.com/ }).click();
    await save.click();
    await form.waitFor({ state: "detached" });
    await page.getByText("grace@example.com").first().waitFor();
    expect(await owner()).toBe("grace@example.com");
    await edit.click();
    await field.locator("xpath=ancestor::*[contains(@class, 'mantine-Select-root')]").locator("button").click();
    await save.click();
    await form.waitFor({ state: "detached" });
    expect(await owner()).toBe(null);
  });

  test("an admin sets the fallback model and a temporary increase of a key's budget, and removes both", async () => {
    const params = { workspace: "acme" };
    const budget = { usd: 10, period: "month" } as const;
    const { key } = await ada.call("keys.create", { params, body: { name: "extended", budget } });
    const stored = async () => (await ada.call("keys.show", { params: { ...params, key: key.id } })).budget;
    await open(`/console/keys/${key.id}?workspace=acme`);
    const edit = page.getByRole("button", { name: "Edit key" });
    const form = page.getByRole("dialog");
    const save = form.getByRole("button", { name: "Save key" });
    const fallback = form.getByRole("combobox", { name: "Over budget" });
    await edit.click();
    await fallback.click();
    await page.getByRole("option", { name: modelNames[3] ?? "" }).click();
    await form.getByLabel("Amount in addition").fill("5");
    await form.getByText("Enter the amount of the increase, when it ends, and its reason.").waitFor();
    expect(await save.isDisabled()).toBe(true);
    await form.getByLabel("Ends", { exact: true }).fill("2099-01-01T12:00");
    await form.getByLabel("Reason", { exact: true }).fill("launch");
    await save.click();
    await form.waitFor({ state: "detached" });
    expect(await stored()).toMatchObject({
      ...budget,
      over: { fallback: modelNames[3] },
      increase: { usd: 5, reason: "launch" },
    });
    await edit.click();
    await fallback.click();
    await page.getByRole("option", { name: "Refuse", exact: true }).click();
    await form.getByLabel("Amount in addition").fill("");
    await save.click();
    await form.waitFor({ state: "detached" });
    const { over, increase } = (await stored()) ?? {};
    expect([over, increase]).toEqual([undefined, undefined]);
  });

  test("an invalid field shows its error once, and the form is not sent", async () => {
    await open("/console/keys?workspace=acme&create=1");
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("ci");
    await form.getByRole("button", { name: /Allowed IPs/ }).click();
    const ips = form.getByLabel("Allowed IPs", { exact: true }).first();
    await ips.fill("example.com");
    await ips.press("Enter");
    await form.getByText("example.com is not an IP address or range.").waitFor();
    await form.getByText("Check the marked fields.").waitFor();
    expect(await form.getByText("is not an IP address").count()).toBe(1);
    expect(await form.getByRole("button", { name: "Create key" }).isDisabled()).toBe(true);
    await open("/console/workspaces/acme?tab=members&invite=1");
    const invite = page.getByRole("dialog");
    await invite.getByLabel("Email").fill("grace");
    await invite.getByRole("button", { name: "Invite" }).click();
    await invite.getByText("This is not an email address.").waitFor();
  });

  test("agent settings of a group are edited as a form and as JSON, saved as versions, and restored", async () => {
    await open("/console/workspaces/acme?tab=agents");
    const json = page.getByRole("textbox", { name: "JSON" });
    await page.getByRole("textbox", { name: "Deny" }).fill("Read(./.env)\nBash(rm *)");
    const environment = page.getByRole("textbox", { name: "Environment variables" });
    await environment.pressSequentially("HTTPS_PROXY=http://proxy:3128");
    expect(await environment.inputValue()).toBe("HTTPS_PROXY=http://proxy:3128");
    await page.getByRole("switch", { name: "Send telemetry to this gateway" }).check({ force: true });
    const typed = JSON.parse(await json.inputValue());
    expect(typed.permissions).toEqual({ deny: ["Read(./.env)", "Bash(rm *)"] });
    expect(typed.env.HTTPS_PROXY).toBe("http://proxy:3128");
    expect(typed.env.OTEL_EXPORTER_OTLP_ENDPOINT).toBe(opened.gateway.url);
    const save = page.getByRole("button", { name: "Save as new version" });
    await json.fill('{"permissions": {"deny": ["Read", 5]}, "made": 1}');
    await page.getByRole("alert").getByText("permissions.deny[1]").waitFor();
    expect(await save.isDisabled()).toBe(true);
    await json.fill('{"permissions": {"deny": ["Read"]}, "made": 1}');
    expect(await page.getByRole("textbox", { name: "Deny" }).inputValue()).toBe("Read");
    await save.click();
    await page.getByText("Version 1, set by ada@example.com").waitFor();
    await page.getByLabel("Default model").first().fill("claude-opus-4-7");
    await save.click();
    await page.getByText("Version 2, set by ada@example.com").waitFor();
    await page.getByRole("button", { name: "View version 1" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore this version" }).click();
    await page.getByText("Version 3, set by ada@example.com").waitFor();
    const params = { workspace: "acme", group: "default" };
    const { settings } = await ada.call("agents.settings", { params });
    expect(settings).toEqual({ permissions: { deny: ["Read"] }, made: 1 });
    // Someone else saves first: the typed text stays, and their version is listed at once.
    await page.getByLabel("Default model").first().fill("claude-mine");
    await ada.call("agents.setSettings", { params, body: { settings: { model: "claude-theirs" } } });
    await save.click();
    await page.getByText("Version 4", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "View version 4" }).waitFor();
    expect(JSON.parse(await json.inputValue()).model).toBe("claude-mine");
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});
