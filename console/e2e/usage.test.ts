import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import { addHistory } from "./populated/history.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const params = { workspace: "acme" };
const acme = {
  slug: "acme",
  name: "acme",
  models: ["*"],
  budget: { usd: 500, period: "month" },
  groups: [{ name: "default" }],
};

describe.skipIf(noBrowser !== null)("usage in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({
      config: simulatedModels({ fast: { input: 1, output: 2 }, slow: { input: 3, output: 4 } }, { workspaces: [acme] }),
    });
    ({ ada } = opened);
    page = await opened.page();
    const headers = { "user-agent": "OpenAI/Python 1.99.1" };
    for (const [name, tags] of [
      ["search", { team: "search" }],
      ["ads", { team: "ads" }],
      ["plain", {}],
    ] as const) {
      const { secret } = await ada.call("keys.create", { params, body: { name, tags } });
      for (const model of ["fast", "slow"])
        expect((await opened.chat(secret, { body: { model }, headers })).status).toBe(200);
    }
    await until(async () => {
      const { totals } = await ada.call("usage.rows", {
        params,
        query: { from: 0, to: Date.now() + 3_600_000, by: "key" },
      });
      return totals.requests === 6;
    });
    // Copies of these calls, so that earlier weeks and the last month have some, too.
    addHistory(opened.gateway.dataDir, 70);
  });

  afterAll(() => opened?.stop());

  const table = () => page.getByRole("table", { name: "All rows" });
  const names = async () => (await table().locator("tbody tr").allInnerTexts()).map((row) => row.split(/[\t\n]/)[0]);

  test("shows reasoning and the savings of caches as figures and as charts", async () => {
    await navigateTo(page, "/console/?workspace=acme");
    await page.getByRole("link", { name: /^Saved by caching/ }).click();
    await until(async () => new URL(page.url()).searchParams.get("show") === "cache_saved");
    await page.getByRole("figure", { name: "Saved by caching over time, By model" }).waitFor();
    const totals = page.getByRole("region", { name: "Totals of the period" });
    for (const name of ["Saved by caching", "Reasoning tokens"]) await totals.getByText(name).waitFor();
    await navigateTo(page, "/console/usage?workspace=acme&by=model&range=24h&show=reasoning_share");
    await page.getByRole("figure", { name: "Reasoning share of output over time, By model" }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
  });

  test("draws the budget and the forecast of a key and of the workspace in charts of their spend", async () => {
    const { data } = await ada.call("keys.list", { params, query: { search: "search" } });
    const key = data.find(({ name }) => name === "search");
    if (key === undefined) throw new Error("the key is missing");
    const change = { kind: "budget", limit: 30, period: "month" } as const;
    await ada.call("limits.update", { params, body: { scope: "key", scope_id: key.id, change } });
    const marks = page.getByRole("list", { name: "Budget and forecast" });
    for (const path of [`usage?workspace=acme&key=${key.id}&range=30d`, `keys/${key.id}?workspace=acme&range=30d`]) {
      await navigateTo(page, `/console/${path}`);
      await marks.getByText(/^Budget: \$(?:1\.\d\d|0\.97) a day \(\$30\.00 a month\)$/).waitFor();
      await marks.getByText(/^Forecast: .* a day \(.* a month\)$/).waitFor();
      await page.getByRole("button", { name: "Show as table" }).click();
      await page.getByRole("columnheader", { name: "Budget", exact: true }).waitFor();
    }
    await navigateTo(page, "/console/usage?workspace=acme&range=30d");
    await marks.getByText(/\(\$500\.00 a month\)$/).waitFor();
    await navigateTo(page, `/console/usage?workspace=acme&range=30d&key=${key.id}&model=fast`);
    await page.getByRole("figure", { name: /^Spend over time/ }).waitFor();
    expect(await marks.count()).toBe(0);
    await navigateTo(page, "/console/?workspace=acme");
    const month = page.getByRole("figure", { name: "Spend of this month, added up" });
    await month.getByText(/^Budget: \$500\.00 this month\. Forecast: /).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
  });

  test("splits budgets by a tag, and filters chargeback by its value", async () => {
    await navigateTo(page, "/console/limits?workspace=acme&kind=budget");
    await page.getByRole("combobox", { name: "Split budgets by tag" }).click();
    await page.getByRole("option", { name: "team" }).click();
    const row = page.getByRole("table", { name: "Limits and budgets" }).getByRole("row", { name: /^acme Workspace/ });
    for (const name of ["search", "ads", "Without this tag"]) await row.getByText(name, { exact: true }).waitFor();
    await page.getByRole("combobox", { name: "Only this value" }).click();
    await page.getByRole("option", { name: "ads" }).click();
    await until(async () => (await row.getByText("search", { exact: true }).count()) === 0);
    expect(await violationsInBothThemes(page)).toEqual([]);
    await navigateTo(page, "/console/usage?workspace=acme&tab=chargeback&tag=team&tag_value=ads");
    const totals = async () => (await page.getByRole("row", { name: /^Total/ }).innerText()).split("\t").at(-1);
    const ads = await totals();
    await navigateTo(page, "/console/usage?workspace=acme&tab=chargeback");
    await until(async () => (await totals()) !== ads);
  });

  test("offers no chargeback by workspace in a single workspace", async () => {
    await navigateTo(page, "/console/usage?workspace=acme&tab=chargeback&team=workspace");
    await page.getByRole("columnheader", { name: "Group" }).waitFor();
  });

  test("groups by a tag, filters by its value, and shows what it consists of", async () => {
    await navigateTo(page, "/console/usage?workspace=acme&by=tag&tag=team&range=24h");
    await until(async () => (await names()).length === 3);
    expect((await names()).toSorted()).toEqual(["Without this tag", "ads", "search"]);
    await table().getByRole("link", { name: "search" }).click();
    await until(async () => (await names()).toSorted().join() === "fast,slow");
    await page.getByText("team: search").waitFor();
    expect(new URL(page.url()).searchParams.get("tag_value")).toBe("search");
    await page.getByRole("button", { name: "Remove the filter team: search" }).click();
    await until(async () => new URL(page.url()).searchParams.get("tag_value") === null);
  });

  test("sorts all rows at the gateway, searches them, and filters by a series of the chart", async () => {
    await navigateTo(page, "/console/usage?workspace=acme&by=key&range=24h");
    await until(async () => (await names()).length === 3);
    await table().getByRole("button", { name: "API key" }).click();
    await until(async () => (await names()).join() === "ads,plain,search");
    await page.getByRole("searchbox", { name: "Search rows" }).fill("sea");
    await until(async () => (await names()).join() === "search");
    await page.getByRole("searchbox", { name: "Search rows" }).fill("");
    await page.getByRole("list", { name: "Series" }).getByRole("button", { name: "ads" }).click();
    await until(async () => new URL(page.url()).searchParams.get("key") !== null);
    await page.getByText("API key: ads").waitFor();
  });

  test("saves a view, opens it again from another page's state, and deletes it", async () => {
    await navigateTo(page, "/console/usage?workspace=acme&by=user_agent&range=last_month&show=tokens");
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("textbox", { name: "Save this view" }).fill("Clients last month");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await closeNotice(page, "View saved");
    await navigateTo(page, "/console/usage?workspace=acme");
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("button", { name: "Clients last month", exact: true }).click();
    await until(async () => new URL(page.url()).searchParams.get("by") === "user_agent");
    expect(new URL(page.url()).searchParams.get("range")).toBe("last_month");
    await until(async () => (await names()).join() === "openai-python");
    await page.getByRole("button", { name: "Views" }).click();
    const actions = (view: string) => page.getByRole("button", { name: `Actions for ${view}` });
    const rename = async (name: string) => {
      await actions("Clients last month").press("Enter");
      await page.getByRole("menuitem", { name: "Rename" }).press("Enter");
      await page.getByRole("textbox", { name: "Name of Clients last month" }).fill(name);
    };
    await rename("Other");
    await page.keyboard.press("Escape");
    await actions("Clients last month").waitFor();
    await rename(" ");
    const renaming = page.locator("form").filter({ has: page.getByRole("button", { name: "Cancel" }) });
    expect(await renaming.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await renaming.getByRole("button", { name: "Cancel" }).click();
    await rename("Clients");
    await page.keyboard.press("Enter");
    await actions("Clients").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("No saved views yet.").waitFor();
  });

  test("schedules a saved view, sends it now, and shows the run", async () => {
    const target = { kind: "webhook", url: "https://hooks.example.com/x" } as const;
    const channel = { name: "Finance", language: "en", enabled: true, target } as const;
    await ada.call("alertChannels.create", { params, body: channel });
    await navigateTo(page, "/console/usage?workspace=acme&by=key");
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("textbox", { name: "Save this view" }).fill("By key");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Actions for By key" }).click();
    await page.getByRole("menuitem", { name: "Send on a schedule" }).click();
    const form = page.getByRole("dialog", { name: "Schedule a report" });
    expect(await form.getByRole("textbox", { name: "Name" }).inputValue()).toBe("By key");
    await form.getByRole("checkbox", { name: "Finance" }).check();
    await form.getByRole("button", { name: "Schedule a report" }).click();
    const reports = page.getByRole("table", { name: "Scheduled reports" });
    await reports.getByText("Monday at 08:00").waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await reports.getByRole("button", { name: "Send now: By key" }).click();
    await page.getByText("The report is being sent.").first().waitFor();
    await reports.getByRole("button", { name: "Edit By key" }).click();
    const edited = page.getByRole("dialog", { name: "Edit By key" });
    await edited.getByText("Sent by hand").waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const { data } = await ada.call("scheduledReports.list", { params });
    expect(data).toMatchObject([{ name: "By key", state: "by=key", every: "week", day: 1, hour: 8 }]);
  });

  test("reports the cost of each group by month, with totals", async () => {
    await navigateTo(page, "/console/usage?workspace=acme&tab=chargeback");
    const report = page.getByRole("table", { name: "Cost by team and month" });
    await report.getByText("Total").last().waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export CSV" }).click();
    const lines = (await Bun.file(await (await download).path()).text()).trimEnd().split("\n");
    expect(lines[0]).toMatch(/^id,group,\d{4}-\d\d,\d{4}-\d\d,\d{4}-\d\d,total$/);
    expect(lines.at(-1)).toMatch(/^,Total,/);
    expect(lines[1]?.split(",").slice(2)).toEqual(lines.at(-1)?.split(",").slice(2) ?? []);
  });
});
