import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo, waitUntilLoaded } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const config = `
workspaces:
  - { slug: acme, name: Acme, groups: [{ name: default }, { name: film-crew }] }
  - { slug: labs, name: 实验室, groups: [{ name: default }] }
`;

describe.skipIf(noBrowser !== null)("the command palette", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;
  let keyId: string;

  beforeAll(async () => {
    opened = await openConsole({ config });
    ({ ada } = opened);
    const { key } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "结算服务" } });
    keyId = key.id;
    for (const name of ["ledger", "ledger-old", "unrelated"]) {
      await ada.call("keys.create", { params: { workspace: "acme" }, body: { name } });
    }
    page = await opened.page({});
    await page.goto("/console/?workspace=acme");
  });

  afterAll(() => opened?.stop());

  /** Opens the palette, types, and runs the named command with the keyboard. */
  async function run(text: string, command: string | RegExp): Promise<void> {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill(text);
    const option = page.getByRole("option", { name: command });
    await option.waitFor();
    for (let step = 0; step < 20 && (await option.getAttribute("aria-selected")) !== "true"; step++) {
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
  }

  test.each([
    ["create key", "Create API key", "Create key"],
    ["invite", "Invite person", "Invite"],
    ["add prov", "Add provider", "Add a provider"],
    ["new model", "Add model", "Add model"],
  ] as const)("%s opens the form of %s", async (text, command, title) => {
    await navigateTo(page, "/console/?workspace=acme");
    await run(text, command);
    await page.getByRole("dialog").getByText(new RegExp(title)).first().waitFor();
    await page.keyboard.press("Escape");
  });

  test("a verb asks for its object, finds it by a Chinese name, and opens its dialog", async () => {
    await navigateTo(page, "/console/?workspace=acme");
    await run("revoke", "Revoke key…");
    await page.getByRole("combobox", { name: /^Revoke key: search/ }).fill("结算");
    await page.getByRole("option", { name: /结算服务/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Revoke 结算服务?").waitFor();
    await page.keyboard.press("Escape");
  });

  test("Enter before the results have loaded waits for the best match of the typed text", async () => {
    await navigateTo(page, "/console/?workspace=acme");
    const results = Promise.withResolvers<void>();
    await page.route(/\/keys\?.*search=ledger(&|$)/, async (route) => {
      await results.promise;
      await route.continue();
    });
    await run("revoke", "Revoke key…");
    const search = page.getByRole("combobox", { name: /^Revoke key: search/ });
    const sent = page.waitForRequest(/\/keys\?.*search=ledger(&|$)/);
    await page.getByRole("option", { name: /unrelated/ }).waitFor();
    await search.fill("ledger");
    await page.keyboard.press("Enter");
    await sent;
    expect(await page.getByRole("option", { name: /unrelated/ }).count()).toBe(0);
    expect(await search.count()).toBe(1);
    results.resolve();
    await page.getByRole("dialog").getByText("Revoke ledger?").waitFor();
    await page.keyboard.press("Escape");

    await navigateTo(page, "/console/?workspace=acme");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("结算服务");
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/keys/${keyId}`));
  });

  test("finds people, groups, workspaces and ids", async () => {
    await navigateTo(page, "/console/?workspace=acme");
    for (const [text, option] of [
      ["ada@", /ada@example.com/],
      ["film", /film-crew/],
      ["实验", /实验室/],
      [keyId, /Open API key/],
      ["req_0123456789abcdef", /Open request/],
      ["vt_0123456789abcdef", /Open video task/],
      ["resp_0123456789abcdef", /Find requests/],
    ] as const) {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").fill(text);
      await page.getByRole("option", { name: option }).first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });

  test("never sends a pasted secret", async () => {
    const urls: string[] = [];
    page.on("request", (request) => urls.push(decodeURIComponent(request.url())));
    await page.keyboard.press("Control+k");
    const sent = page.waitForRequest(/\/keys\?.*search=sk-sluice/);
    await page.getByRole("dialog").getByRole("combobox").fill("sk-sluice-abcdefghijklmnopqrstuvwxyz0123456789");
    await sent;
    await page.keyboard.press("Escape");
    expect(urls.filter((url) => url.includes("fghijkl"))).toEqual([]);
  });

  test("Chinese verbs work in Chinese, and English ones too", async () => {
    const chinese = await ada.page(opened.browser, { locale: "zh-CN" });
    await chinese.goto("/console/?workspace=acme");
    await waitUntilLoaded(chinese);
    for (const [text, option] of [
      ["新建令牌", "创建 API 密钥"],
      ["create key", "创建 API 密钥"],
      ["吊销", "吊销密钥…"],
      ["首页", "首页"],
    ] as const) {
      await chinese.keyboard.press("Control+k");
      await chinese.getByRole("dialog").getByRole("combobox").fill(text);
      await chinese.getByRole("option", { name: option }).first().waitFor();
      await chinese.keyboard.press("Escape");
      await chinese.getByRole("dialog").waitFor({ state: "detached" });
    }
    await opened.browser.leave(chinese);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});
