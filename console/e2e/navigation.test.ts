import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { email, type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo, waitUntilLoaded } from "./populated/all-pages.ts";
import { password, type SignedInUser } from "./signed-in-user.ts";

const phone = { width: 360, height: 740 };
const twoWorkspaces = `
workspaces:
  - { slug: acme, name: Acme, groups: [{ name: default }], keys: [{ name: ci }] }
  - { slug: labs, name: Labs, groups: [{ name: default }], keys: [{ name: lab }] }
`;

describe.skipIf(noBrowser !== null)("the navigation with two workspaces", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config: twoWorkspaces });
    ({ ada, browser } = opened);
    page = await opened.page({});
  });

  afterAll(() => opened?.stop());

  const switcher = (name: string) => page.getByRole("button", { name: `Workspace: ${name}` });
  const choose = async (from: string, to: string) => {
    await switcher(from).click();
    await page.getByRole("option", { name: to }).click();
    await switcher(to).waitFor();
  };

  test("keeps links to pages that have moved", async () => {
    const moved = { "/console/assets?create=group": "/media/assets", "/console/tasks?view=list": "/media" };
    for (const [path, to] of Object.entries(moved)) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1, name: "Media" }).waitFor();
      expect([new URL(page.url()).pathname, new URL(page.url()).search]).toEqual([
        `/console${to}`,
        expect.stringContaining(path.split("?")[1] ?? ""),
      ]);
    }
  });

  test("the page of a workspace selects it, and the switcher leads from one to the other", async () => {
    await navigateTo(page, "/console/workspaces/acme");
    await page.getByRole("heading", { level: 1, name: "Acme" }).waitFor();
    await choose("Acme", "Labs");
    await page.getByRole("heading", { level: 1, name: "Labs" }).waitFor();
    await choose("Labs", "All workspaces");
    await page.getByRole("heading", { level: 1, name: "Workspaces" }).waitFor();
  });

  test("the chosen workspace is remembered after signing out, and pages that need one take the last one", async () => {
    await navigateTo(page, "/console/keys?workspace=-");
    await choose("All workspaces", "Labs");
    await page.context().clearCookies();
    await page.goto("/console/keys");
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    await switcher("Labs").waitFor();
    await choose("Labs", "All workspaces");
    await page.getByRole("link", { name: "Playground" }).click();
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Workspace" }).inputValue()).toBe("Labs");
    expect(await page.getByText("Choose a workspace").count()).toBe(0);
  });

  test("on a phone in Chinese, the drawer has the switcher and every page, without scrolling sideways", async () => {
    const small = await ada.page(browser, { viewport: phone, locale: "zh-CN", hasTouch: true });
    await small.goto("/console/");
    await waitUntilLoaded(small);
    await small.getByRole("button", { name: "打开菜单" }).click();
    const drawer = small.getByRole("dialog");
    await drawer.getByRole("button", { name: /工作区/ }).waitFor();
    const pages = ["首页", "用量", "请求", "体验场", "API 密钥", "模型", "提供商", "工作区", "限额", "设置"];
    for (const name of pages) await drawer.getByRole("link", { name, exact: true }).waitFor();
    await drawer.getByRole("link", { name: "模型", exact: true }).click();
    await small.getByRole("heading", { level: 1, name: "模型" }).waitFor();
    expect(await small.evaluate<number>("document.documentElement.scrollWidth")).toBe(phone.width);
    await browser.leave(small);
  });

  test("opens pages with g and a letter, and lists the shortcuts with ?", async () => {
    await navigateTo(page, "/console/");
    for (const [letter, name] of [
      ["k", "API keys"],
      ["c", "Connect"],
      ["w", "Workspaces"],
    ]) {
      await page.keyboard.press("g");
      await page.keyboard.press(letter ?? "");
      await page.getByRole("heading", { level: 1, name: name ?? "" }).waitFor();
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Go to Connect").waitFor();
    await page.keyboard.press("Escape");
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});

describe.skipIf(noBrowser !== null)("the navigation with one workspace", () => {
  test("names the workspace, asks for none, and shows media once there is a video model", async () => {
    const { ada, page: open, stop } = await openConsole({ config: simulatedModels({ fast: { input: 1 } }) });
    try {
      const page = await open();
      const media = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Media" });
      for (const path of ["playground", "media/assets", "alerts?tab=rules"]) {
        await page.goto(`/console/${path}`);
        await waitUntilLoaded(page);
        expect(await page.getByText("Choose a workspace").count(), path).toBe(0);
        expect(await page.getByRole("button", { name: /^Workspace: / }).count(), path).toBe(0);
      }
      expect(await media.count()).toBe(0);
      await ada.call("models.create", { body: { name: "films", type: "video", deployments: [{ provider: "lab" }] } });
      await page.goto("/console/");
      await media.waitFor();
    } finally {
      await stop();
    }
  });
});
