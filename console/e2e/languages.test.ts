import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { en } from "../src/language/en/index.ts";
import { zhCN } from "../src/language/zh-CN/index.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const chinese = { locale: "zh-CN" };

describe.skipIf(noBrowser !== null)("the languages of the console", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada, browser } = opened);
  });

  afterEach(() => browser?.leave());
  afterAll(() => opened?.stop());

  const shown = () => document.documentElement.lang;

  test("a Chinese browser gets the console in Chinese; switching to English takes one click and is kept", async () => {
    const page = await browser.page(chinese);
    await page.goto("/console/");
    await page.locator("html[lang=zh-CN]").waitFor();
    await page.getByRole("button", { name: "English" }).click();
    await page.locator("html[lang=en]").waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate(shown)).toBe("en");
  });

  test("an unsupported browser language gets the console in English", async () => {
    const page = await browser.page({ locale: "fi-FI" });
    await page.goto("/console/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate(shown)).toBe("en");
  });

  test("a chosen language applies in every browser of the user until it is reset", async () => {
    const here = await ada.page(browser);
    await here.goto("/console/profile");
    await here.getByLabel(en.language.label).selectOption({ label: "简体中文" });
    await here.locator("html[lang=zh-CN]").waitFor();
    await here.getByLabel(zhCN.language.label).waitFor();

    const elsewhere = await ada.page(browser, { locale: "en-GB" });
    await elsewhere.goto("/console/profile");
    await elsewhere.locator("html[lang=zh-CN]").waitFor();
    await elsewhere.getByLabel(zhCN.language.label).selectOption({ label: zhCN.language.ofBrowser });
    await elsewhere.locator("html[lang=en]").waitFor();
    await elsewhere.getByLabel(en.language.label).waitFor();
    expect((await ada.call("session.show")).user?.language).toBeNull();
  });

  test("the account menu switches the language on any page", async () => {
    const page = await ada.page(browser);
    await page.goto("/console/models");

    await page.getByRole("button", { name: /Account of/ }).click();
    await page.getByText("简体中文").click();
    await page.locator("html[lang=zh-CN]").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/models");
    expect((await ada.call("session.show")).user?.language).toBe("zh-CN");
    expect(browser.faults).toEqual([]);
  });
});
