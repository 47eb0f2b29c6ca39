import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { inTime } from "../../test/until.ts";
import { zhCN } from "../src/language/zh-CN/index.ts";
import { barriersInBoth } from "./barriers.ts";
import { englishOn, saidByGateway } from "./english-on-pages.ts";
import { allPages, followTo, settled, standing } from "./furnished/all-pages.ts";
import { type FurnishedGateway, furnishGateway } from "./furnished/furnished-gateway.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";

const phone = { width: 360, height: 740 };
const desk = { width: 1280, height: 800 };
const widths = [phone.width, 768, 1_024, 1_440, desk.width];
/** Where other words of another length are likeliest to be too wide: the narrowest window, and the narrowest with all columns. */
const decidingWidths = [phone.width, 1_024, desk.width];

describe.skipIf(noBrowser !== null)("every page of the console, with something on it", () => {
  let browser: OpenedBrowser;
  let furnished: FurnishedGateway;

  beforeAll(async () => {
    furnished = await furnishGateway();
    browser = await openBrowser(furnished.gateway.url);
  });

  afterAll(async () => {
    await browser?.close();
    await furnished?.stop();
  });

  /** One page of the browser for many tests: opening it and loading the program would be most of each. */
  const walk = (options: BrowserContextOptions) => {
    let opened: Page | null = null;
    afterAll(() => browser?.leave());
    return async (look: (page: Page) => Promise<readonly string[]>) => {
      opened ??= await furnished.ada.page(browser, options);
      try {
        return await inTime(look(opened));
      } catch (cause) {
        // Whatever it hangs in: the next test starts with another browser.
        opened = null;
        await browser.close();
        throw cause;
      }
    };
  };

  describe("light or dark", () => {
    const visit = walk({ viewport: desk, bypassCSP: true });
    test.each(allPages)("$name meets WCAG 2.2 AA and never scrolls sideways", async ({ path }) => {
      const found = await visit(async (page) => {
        await followTo(page, path(furnished));
        return [...(await barriersInBoth(page)), ...(await tooWide(page, widths))];
      });
      expect(found).toEqual([]);
    });
  });

  describe("in Chinese", () => {
    let said: ReadonlySet<string>;
    beforeAll(async () => {
      said = await saidByGateway(furnished);
    });
    const visit = walk({ viewport: desk, locale: "zh-CN" });
    test.each(allPages)("$name shows no English, and never scrolls sideways", async ({ path }) => {
      const found = await visit(async (page) => {
        await followTo(page, path(furnished), zhCN.shell.missing.title);
        return [...(await englishOn(page, said)), ...(await tooWide(page, decidingWidths))];
      });
      expect(found).toEqual([]);
    });
  });

  test("brings the chosen tab into sight on a phone", async () => {
    const page = await furnished.ada.page(browser, { viewport: phone, hasTouch: true });
    await page.goto("/console/settings?tab=system");
    await standing(page);
    const { x, width } = (await page.getByRole("tab", { selected: true }).boundingBox()) ?? { x: -1, width: 0 };
    expect([x >= 0, x + width <= phone.width]).toEqual([true, true]);
    await browser.leave();
  });

  test("what arrives late finds its room: a page hardly moves under the eyes of whoever reads it", async () => {
    const moved: Record<string, number> = {};
    for (const path of ["/console/settings?tab=sign-in", "/console/settings?tab=system"]) {
      const page = await furnished.ada.page(browser, { viewport: phone });
      const held = Promise.withResolvers<void>();
      await page.route(lateAnswers, async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.addInitScript(watchShifts);
      await page.goto(path);
      await page.locator("main :is([aria-busy=true], .mantine-Skeleton-root)").first().waitFor();
      held.resolve();
      await standing(page);
      moved[path] = await page.evaluate<number>(shiftsSoFar);
      await browser.leave(page);
    }
    expect(Object.entries(moved).filter(([, score]) => score > 0.1)).toEqual([]);
  });

  test("is used by keyboard: skip link, palette by Ctrl-K, Escape, and the page by its name", async () => {
    const page = await furnished.ada.page(browser, { viewport: desk });
    await page.goto("/console/keys?workspace=acme");
    await standing(page);
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
    const box = page.getByRole("combobox", { name: /Search pages/ });
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

  test("no page breaks the content policy, throws, or loads anything from elsewhere", () => {
    expect(browser.faults).toEqual([]);
  });
});

/** What a page asks for once it is drawn. */
const lateAnswers = /\/api\/(?:settings|rights|system)/;

/** By how much the page has moved since it was opened: above 0.1 it is too much (web.dev/articles/cls). */
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
    await page.setViewportSize({ width, height: desk.height });
    wide.push(...(await settled(() => page.evaluate<string[]>(sticksOut))).map((line) => `${width}: ${line}`));
  }
  return wide;
}

const tabsMax = 12;

/** From where the focus is; the main action of a page is not far from its beginning. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < tabsMax; tabs++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate<string>("document.activeElement?.textContent ?? ''")).trim() === name) return;
  }
  throw new Error(`${name} is not within ${tabsMax} tabs`);
}

/** What makes the page wider than the window, by its outermost elements. */
const sticksOut = `(() => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide <= 0) return [];
  const out = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
  return [wide + " px too wide", ...out.slice(0, 5).map((element) => element.tagName + "." + element.className)];
})()`;
