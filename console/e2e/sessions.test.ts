import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";

const config = `
workspaces:
  - { slug: acme, name: Acme, models: ["*"], groups: [{ name: default }] }
`;
const acme = { workspace: "acme" };

describe.skipIf(noBrowser !== null)("sessions in the console", () => {
  let opened: OpenedConsole;
  let page: Page;
  let secret = "";
  /** Request ids of the session with three turns, in order. */
  const turns: string[] = [];

  const ask = async (session: string, userAgent: string, model = "demo") => {
    const headers = { "user-agent": userAgent, "x-session-id": session };
    return (await opened.chat(secret, { body: { model }, headers })).requestId;
  };

  beforeAll(async () => {
    opened = await openConsole({ config });
    secret = (await opened.ada.call("keys.create", { params: acme, body: { name: "agents" } })).secret;
    for (let turn = 0; turn < 3; turn++) turns.push(await ask("ses_long", "opencode/1.18.4"));
    await ask("ses_short/with?odd&characters", "codex_cli_rs/0.150.0");
    await ask("ses_short/with?odd&characters", "codex_cli_rs/0.150.0", "no-such-model");
    await until(async () => (await opened.ada.call("sessions.list", { params: acme })).totals.requests === 5);
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  const sideways = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

  test("the list shows each conversation as one row, and sorts and filters every row", async () => {
    await page.goto("/console/requests?workspace=acme");
    await page.getByRole("tab", { name: "Sessions" }).click();
    await page.getByText("ses_long").waitFor();
    expect(await page.getByRole("row").nth(1).textContent()).toContain("Codex");
    await page.getByRole("button", { name: "Turns" }).click();
    await until(async () => (await page.getByRole("row").nth(1).textContent())?.includes("OpenCode") ?? false);
    expect(new URL(page.url()).searchParams.get("order")).toBe("-turns");
    await page.goto("/console/requests/sessions?workspace=acme&agent=Codex");
    await page.getByText("ses_short/with?odd&characters").waitFor();
    expect(await page.getByText("ses_long").count()).toBe(0);
  });

  test("a session shows its turns in order, marks errors, and links to the requests", async () => {
    await page.goto("/console/requests/sessions?workspace=acme");
    await page.getByText("ses_short/with?odd&characters").click();
    await page.getByRole("heading", { name: "Codex", level: 1 }).waitFor();
    await page.getByRole("table", { name: "Turns" }).getByText("model_not_found").waitFor();
    await page.goBack();
    await page.getByText("ses_long").click();
    const table = page.getByRole("table", { name: "Turns" });
    await table.getByRole("link").nth(2).waitFor();
    const links = await table
      .getByRole("link")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    expect(links.map((href) => /req_[^?]+/.exec(href)?.[0] ?? "")).toEqual(turns);
  });

  test("a request leads to the requests before and after it, and to its session", async () => {
    await page.goto(`/console/requests/${turns[1]}?workspace=acme`);
    await page.getByText("Request 2 of 3").waitFor();
    await page.getByRole("link", { name: "Next", exact: true }).click();
    await page.getByText("Request 3 of 3").waitFor();
    expect(page.url()).toContain(turns[2] ?? "-");
    expect(await page.getByRole("button", { name: "Next", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Previous", exact: true }).click();
    await page.getByText("Request 2 of 3").waitFor();
    await page.getByRole("link", { name: "Open session" }).click();
    await page.getByRole("heading", { name: "OpenCode", level: 1 }).waitFor();
  });

  test("the agent filter offers every agent of the range, also while one is chosen", async () => {
    await page.goto("/console/requests/sessions?workspace=acme&agent=Codex");
    await page.getByText("ses_short/with?odd&characters").waitFor();
    await page.getByRole("combobox", { name: "Agent" }).click();
    await page.getByRole("option", { name: "OpenCode" }).click();
    await page.getByText("ses_long").waitFor();
    expect(await page.getByText("ses_short/with?odd&characters").count()).toBe(0);
  });

  test("cards on a phone are sorted with a select", async () => {
    await page.setViewportSize({ width: 360, height: 900 });
    await page.goto("/console/requests/sessions?workspace=acme");
    await page.getByText("ses_long").waitFor();
    await page.getByRole("combobox", { name: "Sort by" }).selectOption({ label: "Turns, descending" });
    await until(async () => (await page.locator(".session-id").first().textContent()) === "ses_long");
    await page.getByRole("combobox", { name: "Sort by" }).selectOption({ label: "Turns, ascending" });
    await until(
      async () => (await page.locator(".session-id").first().textContent())?.startsWith("ses_short") ?? false,
    );
    expect(await sideways()).toBe(0);
    await page.setViewportSize({ width: 1_440, height: 900 });
    expect(await page.getByRole("combobox", { name: "Sort by" }).count()).toBe(0);
  });

  test("a session shows the tools in captured bodies, or how to capture them", async () => {
    const body = { name: "captured", capture: "bodies" as const };
    const { secret: captured } = await opened.ada.call("keys.create", { params: acme, body });
    const tool = { type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } };
    const headers = { "user-agent": "goose/1.9", "x-session-id": "ses_tools" };
    await opened.chat(captured, { body: { model: "demo", tools: [tool], tool_choice: "required" }, headers });
    await page.goto("/console/requests/sessions?workspace=acme");
    await page.getByText("ses_tools").click();
    const tools = page.getByRole("table", { name: "Tools of the agent" });
    await tools.getByText("look_up").waitFor();
    await page.getByText("Read from 1 request with captured bodies.").waitFor();
    await page.getByRole("table", { name: "Turns" }).getByText("look_up").waitFor();
    await page.goBack();
    await page.getByText("ses_long").click();
    await page.getByRole("link", { name: "Capture bodies of its key" }).click();
    await page.getByRole("heading", { name: "agents", level: 1 }).waitFor();
  });

  test("list and session fit every width, and cause no errors", async () => {
    for (const width of [1_440, 768, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto("/console/requests/sessions?workspace=acme");
      await page.getByText("ses_long").waitFor();
      expect([width, await sideways()]).toEqual([width, 0]);
      await page.getByText("ses_long").click();
      await page.getByRole("heading", { name: "OpenCode", level: 1 }).waitFor();
      await page.getByRole("table", { name: "Turns" }).waitFor();
      expect([width, await sideways()]).toEqual([width, 0]);
    }
    expect(opened.browser.faults).toEqual([]);
  });
});
