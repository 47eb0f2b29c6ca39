import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { inTime } from "../../test/until.ts";
import { zhCN } from "../src/language/zh-CN/index.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { allPages, navigateTo, settled, waitUntilLoaded } from "./populated/all-pages.ts";
import { type PopulatedGateway, startPopulatedGateway } from "./populated/populated-gateway.ts";
import { gatewaySentences, untranslatedTexts } from "./untranslated-texts.ts";

const phone = { width: 360, height: 740 };
const desktop = { width: 1280, height: 800 };
const widths = [phone.width, 768, 1_024, 1_440, desktop.width];
/** Widths at which longer texts are most likely to overflow: the narrowest window, and the narrowest one with all columns. */
const decidingWidths = [phone.width, 1_024, desktop.width];

describe.skipIf(noBrowser !== null)("every page of the console with data", () => {
  let browser: OpenedBrowser;
  let populated: PopulatedGateway;

  beforeAll(async () => {
    populated = await startPopulatedGateway();
    browser = await openBrowser(populated.gateway.url);
  });

  afterAll(async () => {
    await browser?.close();
    await populated?.stop();
  });

  /** One browser page for many tests, because opening it and loading the app would take most of their time. */
  const visitor = (options: BrowserContextOptions) => {
    let opened: Page | null = null;
    afterAll(() => browser?.leave());
    return async (look: (page: Page) => Promise<readonly string[]>) => {
      opened ??= await populated.ada.page(browser, options);
      try {
        return await inTime(look(opened));
      } catch (cause) {
        // The page may hang, so the next test starts with a new browser.
        opened = null;
        await browser.close();
        throw cause;
      }
    };
  };

  describe("light or dark", () => {
    const visit = visitor({ viewport: desktop });
    test.each(allPages)("$name meets WCAG 2.2 AA and never scrolls sideways", async ({ path }) => {
      const found = await visit(async (page) => {
        await navigateTo(page, path(populated));
        return [...(await violationsInBothThemes(page)), ...(await tooWide(page, widths))];
      });
      expect(found).toEqual([]);
    });
  });

  describe("in Chinese", () => {
    let sentences: ReadonlySet<string>;
    beforeAll(async () => {
      sentences = await gatewaySentences(populated);
    });
    const visit = visitor({ viewport: desktop, locale: "zh-CN" });
    test.each(allPages)("$name shows no English, and never scrolls sideways", async ({ path }) => {
      const found = await visit(async (page) => {
        await navigateTo(page, path(populated), zhCN.shell.missing.title);
        return [...(await untranslatedTexts(page, sentences)), ...(await tooWide(page, decidingWidths))];
      });
      expect(found).toEqual([]);
    });
  });

  test("scrolls the selected tab into view on a phone", async () => {
    const page = await populated.ada.page(browser, { viewport: phone, hasTouch: true });
    await page.goto("/console/settings?tab=system");
    await waitUntilLoaded(page);
    const { x, width } = (await page.getByRole("tab", { selected: true }).boundingBox()) ?? { x: -1, width: 0 };
    expect([x >= 0, x + width <= phone.width]).toEqual([true, true]);
    await browser.leave();
  });

  test("content that is loaded late does not shift the page", async () => {
    const moved: Record<string, number> = {};
    for (const path of ["/console/settings?tab=sign-in", "/console/settings?tab=system"]) {
      const page = await populated.ada.page(browser, { viewport: phone });
      const held = Promise.withResolvers<void>();
      await page.route(lateAnswers, async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.addInitScript(watchShifts);
      await page.goto(path);
      await page.locator("main :is([aria-busy=true], .mantine-Skeleton-root)").first().waitFor();
      held.resolve();
      await waitUntilLoaded(page);
      moved[path] = await page.evaluate<number>(shiftsSoFar);
      await browser.leave(page);
    }
    expect(Object.entries(moved).filter(([, score]) => score > 0.1)).toEqual([]);
  });

  test("can be used with the keyboard: skip link, palette with Ctrl-K, Escape, and navigation by name", async () => {
    const page = await populated.ada.page(browser, { viewport: desktop });
    await page.goto("/console/keys?workspace=acme");
    await waitUntilLoaded(page);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement?.id")).toBe("content");
    await tabTo(page, "Create key");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByLabel("Name").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    const box = page.getByRole("dialog").getByRole("combobox", { name: /^Search for actions, pages/ });
    await box.waitFor();
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await box.fill("audit");
    await page.getByRole("option", { name: /Audit log/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
    await browser.leave();
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});

/** Requests that a page sends after its first render. */
const lateAnswers = /\/api\/(?:settings|rights|system)/;

/** Cumulative layout shift since the page was opened. More than 0.1 is too much (web.dev/articles/cls). */
const watchShifts = `{
  const add = (entries) => entries.forEach(({ value }) => (window.moved = (window.moved ?? 0) + value));
  window.shifts = new PerformanceObserver((list) => add(list.getEntries()));
  window.shiftsSoFar = () => (add(window.shifts.takeRecords()), window.moved ?? 0);
  window.shifts.observe({ type: "layout-shift", buffered: true });
}`;
const shiftsSoFar = "window.shiftsSoFar()";

async function tooWide(page: Page, at: readonly number[]): Promise<readonly string[]> {
  const wide: string[] = [];
  for (const width of at) {
    await page.setViewportSize({ width, height: desktop.height });
    wide.push(...(await settled(() => page.evaluate<string[]>(sticksOut))).map((line) => `${width}: ${line}`));
  }
  return wide;
}

const tabsMax = 12;

/** Presses Tab until the focus is on the control. The main action of a page is near its beginning. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < tabsMax; tabs++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate<string>("document.activeElement?.textContent ?? ''")).trim() === name) return;
  }
  throw new Error(`${name} is not within ${tabsMax} tabs`);
}

/** How much the page is wider than the window, and the outermost elements that cause it. */
const sticksOut = `(() => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide <= 0) return [];
  const out = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
  return [wide + " px too wide", ...out.slice(0, 5).map((element) => element.tagName + "." + element.className)];
})()`;
