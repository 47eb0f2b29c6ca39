import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { noBrowser, openBrowser } from "./opened-browser.ts";
import { startGateway } from "./started-gateway.ts";

const assets = join(import.meta.dir, "..", "dist", "assets");
const firstLoadKb = 300;

describe.skipIf(noBrowser !== null)("the first load of the console", () => {
  test("brings at most 300 KB of compressed script, and neither charts nor pages that nobody opened", async () => {
    const gateway = await startGateway();
    const browser = await openBrowser(gateway.url);
    try {
      const page = await browser.page();
      const scripts: string[] = [];
      page.on("response", (response) => {
        const name = new URL(response.url()).pathname.split("/").at(-1) ?? "";
        if (name.endsWith(".js")) scripts.push(name);
      });
      await page.goto("/console/");
      await page.getByRole("heading", { level: 1 }).waitFor();
      const bytes = scripts.reduce((sum, name) => sum + Bun.gzipSync(readFileSync(join(assets, name))).byteLength, 0);
      expect(scripts.length).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(firstLoadKb * 1_024);
      expect(scripts.filter((name) => name.startsWith("chart-drawn"))).toEqual([]);
      expect(readdirSync(assets).filter((name) => name.endsWith(".js")).length).toBeGreaterThan(scripts.length);
    } finally {
      await browser.close();
      await gateway.stop();
    }
  }, 60_000);
});
