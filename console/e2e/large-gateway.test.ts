import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { zhCN } from "../src/language/zh-CN/index.ts";
import { noBrowser } from "./opened-browser.ts";
import { navigateTo, settled } from "./populated/all-pages.ts";
import { keysMany, type LargeGateway, modelsMany, startLargeGateway } from "./populated/large-gateway.ts";

describe.skipIf(noBrowser !== null)(`the console of a gateway with ${modelsMany} models and ${keysMany} keys`, () => {
  let large: LargeGateway;
  let page: Page;

  beforeAll(async () => {
    large = await startLargeGateway();
    page = await large.page();
  });

  afterAll(() => large?.stop());

  async function open(path: string): Promise<void> {
    await navigateTo(page, path);
  }

  test("the model list shows the total and fifty models at a time", async () => {
    await open("/console/models");
    await page.getByText("50 of 300").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("100 of 300").waitFor();
    await page.getByRole("searchbox", { name: "Find a model" }).fill("experiment-0277");
    await page.getByRole("link", { name: /experiment-0277-mini/ }).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    expect(await page.evaluate<number>("document.documentElement.scrollHeight")).toBeLessThan(1_000);
  });

  test("the key list counts all keys, and sorts and filters them on the gateway", async () => {
    await open("/console/keys?workspace=large");
    await page.getByText("50 of 803").waitFor();
    // The only key created here, in the middle of the list by name, is the first by creation.
    await open("/console/keys?workspace=large&order=-created");
    const first = page.locator("tbody tr").first();
    await first.getByRole("link", { name: /created here/ }).waitFor();
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await first.getByRole("link", { name: /created here/ }).waitFor();
    await page.getByRole("columnheader", { name: "Name" }).getByRole("button").click();
    await first.getByRole("link", { name: /pipeline-of-team-0799/ }).waitFor();
    expect(page.url()).toContain("order=-name");
    await open("/console/keys?workspace=large&search=team-04");
    await page.getByText("50 of 100").waitFor();
  });

  test("selected keys are changed together, exactly the ones that were named", async () => {
    const params = { workspace: "large" };
    for (const name of ["batch one", "batch two", "batch three"]) {
      await large.ada.call("keys.create", { params, body: { name, tags: { batch: "a" } } });
    }
    await open("/console/keys?workspace=large&tag=batch%3Aa");
    await page.getByText("3 in total").waitFor();
    await page.getByRole("checkbox", { name: "Select batch one" }).check();
    await page.getByRole("button", { name: "Select all 3" }).click();
    await page.getByText("3 keys selected").waitFor();
    await page.getByRole("checkbox", { name: "Select batch two" }).uncheck();
    await page.getByText("2 keys selected").waitFor();
    await page.getByRole("button", { name: "Disable", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Disable 2 keys" });
    expect(await dialog.getByRole("listitem").allInnerTexts()).toEqual(["batch one large", "batch three large"]);
    await dialog.getByRole("button", { name: "Disable 2 keys" }).click();
    await page.getByText("2 keys changed.").waitFor();
    await dialog.waitFor({ state: "detached" });
    const { data } = await large.ada.call("keys.list", { params, query: { tag: "batch:a", sort: "name" } });
    expect(data.map(({ name, state }) => [name, state])).toEqual([
      ["batch one", "disabled"],
      ["batch three", "disabled"],
      ["batch two", "active"],
    ]);
  });

  test("keys of the config file are not changed with the others", async () => {
    await open("/console/keys?workspace=large&search=team-000");
    await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Revoke 0 keys" });
    await dialog.getByText("10 keys cannot change").waitFor();
    expect(await dialog.getByRole("button", { name: "Revoke 0 keys" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("a provider with hundreds of deployments shows fifty at a time", async () => {
    await open(`/console/providers/${large.provider}`);
    await page.getByText("50 of 300").waitFor();
    expect(await page.evaluate<number>("document.documentElement.scrollHeight")).toBeLessThan(4_000);
  });

  test("the key form shows its limits without scrolling, and the key page stays short", async () => {
    await open("/console/keys?workspace=large");
    await page.getByRole("button", { name: "Create key" }).first().click();
    await page.getByRole("dialog").getByText("and 292 more").waitFor();
    const { y } = (await page.getByRole("dialog").getByLabel("Requests per minute").boundingBox()) ?? { y: 9_999 };
    expect(y).toBeLessThan(900);
    await open(`/console/keys/${large.key}?workspace=large`);
    expect(await page.evaluate<number>("document.documentElement.scrollHeight")).toBeLessThan(2_500);
  });

  test("shows the only model that a key may call, and finds others by search", async () => {
    const params = { workspace: "large" };
    const body = { name: "of the last ones", models: ["*-029*"] };
    const { key } = await large.ada.call("keys.create", { params, body });
    await open(`/console/keys/${key.id}?workspace=large`);
    await page.getByText(/"model":"acme-research\/experiment-0290/).waitFor();
    // The smaller group (allowed or not) is listed completely, each model with its type.
    const row = page.getByRole("table", { name: "Models and access" }).getByRole("row", { name: /experiment-0295/ });
    await row.getByRole("cell", { name: "Chat", exact: true }).waitFor();
    const model = page.getByRole("combobox", { name: "Model" });
    await model.fill("0297");
    // The list moves while the page below it loads.
    await page.getByRole("option", { name: /experiment-0297/ }).dispatchEvent("click");
    await page.getByText(/"model":"acme-research\/experiment-0297/).waitFor();
  });

  test("the access table has unique column names", async () => {
    await open("/console/workspaces/large?tab=access&models=all");
    const [first = "", second = ""] = await page.locator(".matrix-model").allInnerTexts();
    expect([first.slice(0, 5), second.slice(0, 5)]).toEqual(["…0000", "…0001"]);
  });

  test("the send button of the playground is visible", async () => {
    await open("/console/playground?workspace=large");
    const box = await page.getByRole("button", { name: "Send" }).boundingBox();
    expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThan(900);
  });

  test("requests and usage are sorted and searched on the gateway", async () => {
    await open("/console/requests?workspace=large&range=7d");
    const first = page.locator("tbody tr").first();
    await page.getByRole("columnheader", { name: "Cost" }).getByRole("button").click();
    const query = { from: Date.now() - 7 * 86_400_000, sort: "-cost_usd" } as const;
    const { data } = await large.ada.call("requests.list", { params: { workspace: "large" }, query });
    await first.locator(`a[href*="${data[0]?.request_id}"]`).waitFor();
    await open("/console/usage?workspace=large&range=last_month&by=model");
    await page.getByRole("searchbox", { name: "Search rows" }).fill("experiment-0002");
    const rows = page.getByRole("table", { name: "All rows" }).locator("tbody tr");
    await until(async () => (await rows.count()) === 1);
  });

  test("the palette finds keys, models and people by a part of their name", async () => {
    await open("/console/?workspace=large");
    for (const [text, option] of [
      ["team-0777", /pipeline-of-team-0777/],
      ["experiment-0251", /experiment-0251/],
      ["person 0031", /Person 0031/],
    ] as const) {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").fill(text);
      await page.getByRole("option", { name: option }).first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  const widePages = [
    ...["?workspace=large", "usage?workspace=large", "requests?workspace=large", "keys?workspace=large"],
    ...["models", "providers", `people?workspace=-`, "limits?workspace=large", "alerts"],
    ...["workspaces/large?tab=members", "workspaces/large?tab=access&models=all"],
  ];

  test.each([
    ["en", [1_024, 768, 360]],
    ["zh-CN", [360]],
  ] as const)("no page scrolls horizontally: %s at %p pixels", async (locale, widths) => {
    const other = await large.page({ locale, viewport: { width: 360, height: 800 } });
    for (const path of [...widePages, `providers/${large.provider}`]) {
      await navigateTo(other, `/console/${path}`, locale === "en" ? undefined : zhCN.shell.missing.title);
      for (const width of widths) {
        await other.setViewportSize({ width, height: 800 });
        const wider = await settled(async () => {
          const shown = await other.evaluate<number>("document.documentElement.scrollWidth");
          return shown <= width ? [] : [`${path} has ${shown} at ${width}`];
        });
        expect(wider).toEqual([]);
      }
    }
    await large.browser.leave(other);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(large.browser.faults).toEqual([]);
  });
});
