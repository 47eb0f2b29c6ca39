import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const config = `
workspaces:
  - { slug: acme, name: Acme, models: ["*"], groups: [{ name: default }] }
`;
const requested = {
  model: "demo",
  messages: [
    { role: "system", content: "Be short." },
    { role: "user", content: "Where do ships go?" },
  ],
  temperature: 0.3,
  stream: true,
};

describe.skipIf(noBrowser !== null)("requests in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;
  let request = "";

  beforeAll(async () => {
    opened = await openConsole({ config });
    ({ ada } = opened);
    const body = { name: "a key that keeps what passes", capture: "bodies" as const };
    const made = await ada.call("keys.create", { params: { workspace: "acme" }, body });
    const answer = await opened.chat(made.secret, { body: requested });
    expect([answer.status, answer.text.includes("[DONE]")]).toEqual([200, true]);
    request = answer.requestId;
    await until(async () => {
      const { data } = await ada.call("requests.list", { params: { workspace: "acme" } });
      return data.some((row) => row.request_id === request);
    });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  const sideways = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const list = async () => {
    await navigateTo(page, "/console/requests?workspace=acme");
    await page.getByRole("row").nth(1).waitFor();
  };

  test("an empty list shows new requests automatically", async () => {
    const { key, secret } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "new" } });
    await page.goto(`/console/requests?workspace=acme&key=${encodeURIComponent(key.id)}`);
    await page.getByText("No requests match these filters").waitFor();
    expect((await opened.chat(secret, { body: requested })).status).toBe(200);
    await page.getByRole("row").nth(1).waitFor();
  });

  test("columns are chosen and ordered by keyboard, kept in the URL and for the user, until they are reset", async () => {
    await list();
    const head = page.getByRole("columnheader", { name: "Provider" });
    const heads = async () => (await page.getByRole("columnheader").allInnerTexts()).map((text) => text.trim());
    await head.waitFor();
    const usual = await heads();
    const open = () => page.getByRole("button", { name: "Choose columns" }).press("Enter");
    await open();
    await page.getByRole("button", { name: "Move Provider up" }).press("Enter");
    const place = usual.indexOf("Provider");
    const moved = usual.toSpliced(place, 1).toSpliced(place - 1, 0, "Provider");
    await until(async () => (await heads()).join() === moved.join());
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("checkbox", { name: "Provider" }).press("Space");
    await head.waitFor({ state: "detached" });
    const link = page.url();
    expect(new URL(link).searchParams.get("columns")).toStartWith("requests:");
    await page.goto("/console/requests?workspace=acme");
    await page.getByRole("row").nth(1).waitFor();
    await until(async () => new URL(page.url()).searchParams.has("columns"));
    expect(await head.count()).toBe(0);
    await open();
    await page.getByRole("button", { name: "Reset to default" }).click();
    await head.waitFor();
    await page.goto(link);
    await page.getByRole("row").nth(1).waitFor();
    expect(await head.count()).toBe(0);
    await list();
    await head.waitFor();
  });

  test("Refresh shows a loading state until the response arrives", async () => {
    await list();
    const held = Promise.withResolvers<void>();
    const lists = /\/api\/workspaces\/acme\/requests\?/;
    await page.route(lists, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Refresh" }).click();
    const asking = page.locator("button[data-loading]", { hasText: "Refresh" });
    await asking.waitFor();
    held.resolve();
    await asking.waitFor({ state: "detached" });
    await page.unroute(lists);
  });

  test("the list fits every width; columns without room scroll inside the table", async () => {
    for (const width of [1_440, 1_024, 768, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await list();
      expect([width, await sideways()]).toEqual([width, 0]);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test("more filters push the list down instead of covering it", async () => {
    await list();
    await page.getByRole("button", { name: "More filters" }).click();
    const filter = await page.getByRole("combobox", { name: "Error code" }).boundingBox();
    const table = await page.getByRole("table").boundingBox();
    expect((filter?.y ?? 0) + (filter?.height ?? 0)).toBeLessThanOrEqual(table?.y ?? 0);
  });

  test("the reason of a refusal is found by the id that the caller holds, in two clicks", async () => {
    const { secret } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "refused" } });
    const refused = await Promise.all(
      Array.from({ length: 12 }, () => opened.chat(secret, { body: { ...requested, model: "no-such-model" } })),
    );
    // Only some of them have a row each; the others share one.
    const folded = await until(async () => {
      for (const { requestId: id } of refused) {
        const params = { workspace: "acme", request: id };
        const shown = await ada.call("requests.show", { params }).catch(() => null);
        if (shown?.counted_in?.calls != null && shown.explanation !== null) return id;
      }
      return false;
    });
    await page.goto("/console/requests?workspace=acme");
    await page.getByRole("searchbox", { name: "Find a request" }).click();
    await page.keyboard.insertText(folded);
    await until(async () => (await page.getByRole("row").count()) === 2);
    await page.getByRole("row").nth(1).click();
    const panel = page.getByRole("region", { name: "Request details" });
    await panel.getByText("requested no-such-model (Chat completions, streamed).").waitFor();
    await panel.getByText("The request was refused with 404 model_not_found:").waitFor();
    await panel.getByText(/One of \d+ identical refusals within one second/).waitFor();
    expect(await panel.getByText("fallback").count()).toBe(0);
    await panel.getByRole("link", { name: "one row" }).click();
    await page.getByText(/identical refusals within one second share this row/).waitFor();
  });

  test("j, k and the arrow keys walk through the list in the panel, and Escape closes it", async () => {
    await page.goto("/console/requests?workspace=acme");
    const links = page.locator("a.row-link");
    await links.nth(2).waitFor();
    await links.nth(0).click();
    const shown = () => new URL(page.url()).searchParams.get("request");
    const first = await until(async () => shown() ?? false);
    const panel = page.getByRole("region", { name: "Request details" });
    await panel.getByText("What happened").waitFor();
    await page.keyboard.press("j");
    await until(() => shown() !== first);
    const second = shown();
    await page.keyboard.press("ArrowDown");
    await until(() => shown() !== second);
    await page.keyboard.press("k");
    await until(() => shown() === second);
    await panel.getByText(second ?? "").waitFor();
    await page.keyboard.press("ArrowUp");
    await until(() => shown() === first);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(shown()).toBeNull();
    // A link to the list with a request opens the panel.
    await page.goto(`/console/requests?workspace=acme&request=${encodeURIComponent(request)}`);
    await panel.getByRole("list", { name: "Messages" }).waitFor();
    await panel.getByRole("link", { name: "Open page" }).click();
    await page.getByRole("heading", { name: "Request", exact: true, level: 1 }).waitFor();
  });

  test("filters and order are in the URL, are applied by the gateway, and come back with the back button", async () => {
    await page.goto("/console/requests?workspace=acme&error_code=model_not_found");
    await page.getByRole("row").nth(1).waitFor();
    const sorted = page.waitForRequest(/requests\?.*sort=-cost_usd/);
    await page.getByRole("button", { name: "Cost", exact: true }).click();
    await sorted;
    const filters = () => new URL(page.url()).searchParams;
    expect([filters().get("error_code"), filters().get("sort")]).toEqual(["model_not_found", "-cost_usd"]);
    await page.locator("a.row-link").first().click();
    await page.getByRole("link", { name: "Open page" }).click();
    await page.getByRole("heading", { name: "Request", exact: true, level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("row").nth(1).waitFor();
    expect([filters().get("error_code"), filters().get("sort")]).toEqual(["model_not_found", "-cost_usd"]);
    await page.goBack();
    await page.getByRole("region", { name: "Request details" }).waitFor({ state: "detached" });
    expect(filters().get("error_code")).toBe("model_not_found");
  });

  test("totals count everything that the filters match, and CSV exports it", async () => {
    await page.goto("/console/requests?workspace=acme&model=demo");
    await page.getByRole("row").nth(1).waitFor();
    const query = { model: "demo" };
    const totals = await ada.call("requests.totals", { params: { workspace: "acme" }, query });
    const { requests, unsuccessful } = totals;
    await page.getByText(`${requests} requests, ${unsuccessful} unsuccessful`).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export CSV" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^requests-.*\.csv$/);
    const lines = (await Bun.file(await file.path()).text()).trimEnd().split("\n");
    expect(lines).toHaveLength(requests + 1);
    expect(lines[0]).toStartWith("time,request_id,");
  });

  test("rows of the list are 32 pixels high, also with long names", async () => {
    await list();
    const heights = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.data-table tbody tr')].map((row) => Math.round(row.getBoundingClientRect().height))",
    );
    expect(Math.max(...heights)).toBeLessThanOrEqual(33);
  });

  test("a captured chat is shown as messages with the assembled response, its raw events a click away, and opens in the playground", async () => {
    await page.goto(`/console/requests/${encodeURIComponent(request)}?workspace=acme`);
    const messages = page.getByRole("list", { name: "Messages" }).getByRole("listitem");
    await messages.first().waitFor();
    expect(await messages.nth(0).textContent()).toBe("SystemBe short.");
    expect(await messages.nth(1).textContent()).toBe("UserWhere do ships go?");
    const answer = (await messages.nth(2).textContent()) ?? "";
    expect(answer).toStartWith("Response");
    expect(answer).not.toContain("data:");
    await page.getByRole("heading", { name: "Client response" }).click();
    await page.getByText("Raw events").click();
    await page.getByText("data: [DONE]").first().waitFor();

    await page.getByRole("link", { name: "Open in playground" }).click();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Where do ships go?");
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("demo");
    await page.getByText("Be short.").waitFor();
    expect(opened.browser.faults).toEqual([]);
  });
});
