import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";

const assets = join(import.meta.dir, "..", "dist", "assets");
const firstLoadBytesMax = 300 * 1_024;

interface LoadedScript {
  readonly name: string;
  readonly bytes: number;
}

describe.skipIf(noBrowser !== null)("the first load of the console", () => {
  let opened: OpenedConsole;

  beforeAll(async () => {
    opened = await openConsole();
  });

  afterAll(() => opened?.stop());

  /** Scripts requested before the page's heading was rendered, with their sizes on the wire. */
  async function scriptsOf(page: Page, path: string): Promise<readonly LoadedScript[]> {
    await page.addInitScript(watchHeading);
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    return page.evaluate<readonly LoadedScript[]>(scriptsBeforeHeading);
  }

  test("the sign-in page loads at most 300 KB of script, without charts and other pages", async () => {
    const scripts = await scriptsOf(await opened.browser.page(), "/console/");
    expect(scripts.length).toBeGreaterThan(0);
    expect(bytesOf(scripts)).toBeLessThan(firstLoadBytesMax);
    expect(scripts.filter(({ name }) => name.startsWith("chart-drawn"))).toEqual([]);
    expect(readdirSync(assets).filter((name) => name.endsWith(".js")).length).toBeGreaterThan(scripts.length);
  });

  test("the home page of a signed-in user loads at most 300 KB of script", async () => {
    const scripts = await scriptsOf(await opened.page(), "/console/");
    expect(bytesOf(scripts)).toBeGreaterThan(50 * 1_024);
    expect(bytesOf(scripts)).toBeLessThan(firstLoadBytesMax);
  });

  test("the page is not cached; its files have names with hashes and are cached forever", async () => {
    const page = await fetch(`${opened.gateway.url}/console/`);
    expect(page.headers.get("cache-control")).toMatch(/no-cache|no-store/);
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(files.length).toBeGreaterThan(1);
    for (const path of files) {
      const file = await fetch(`${opened.gateway.url}${path}`, {
        headers: { "accept-encoding": "gzip" },
        decompress: false,
      });
      expect(file.headers.get("cache-control"), path).toContain("immutable");
      expect(file.headers.get("content-encoding") ?? "", path).toMatch(/gzip|br|zstd/);
    }
  });

  test("nothing is loaded from other origins or violates the content security policy", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});

const watchHeading = `new MutationObserver((_, observer) => {
  if (document.querySelector("h1") === null) return;
  observer.disconnect();
  window.headingAt = performance.now();
}).observe(document, { childList: true, subtree: true })`;
const scriptsBeforeHeading = `performance.getEntriesByType("resource")
  .filter(({ name, startTime }) => name.endsWith(".js") && startTime < window.headingAt)
  .map(({ name, transferSize }) => ({ name: name.split("/").at(-1), bytes: transferSize }))`;

function bytesOf(came: readonly LoadedScript[]): number {
  return came.reduce((sum, { bytes }) => sum + bytes, 0);
}
