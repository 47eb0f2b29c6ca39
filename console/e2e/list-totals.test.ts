import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { zhCN } from "../src/language/zh-CN/index.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";

const params = { workspace: "acme" };

describe.skipIf(noBrowser !== null)("the number of rows of long lists", () => {
  let opened: OpenedConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config: simulatedModels({ fast: { input: 1, output: 2 } }) });
    page = await opened.page();
    for (let n = 0; n < 105; n++) await opened.ada.call("keys.create", { params, body: { name: `key ${n}` } });
  });
  afterAll(() => opened?.stop());

  test("the audit log shows how many entries match", async () => {
    await navigateTo(page, "/console/audit?workspace=acme&action=create&search=acme%2Fkey");
    await page.getByText("1–100 of 105", { exact: true }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
  });

  test("it is translated, and fits on a phone", async () => {
    const phone = await opened.page({ locale: "zh-CN", viewport: { width: 360, height: 800 } });
    await navigateTo(phone, "/console/audit?workspace=acme&action=create&search=acme%2Fkey", zhCN.shell.missing.title);
    await phone.getByText("已显示 100 条，共 105 条").waitFor();
    const overflow = await phone.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
