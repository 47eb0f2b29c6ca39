import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const source = join(import.meta.dir, "..");
/** Calls that format numbers or dates in the browser's language instead of the page's. */
const followsTheBrowser = /Intl\.\w+\(\s*(?:undefined|\))|\.toLocale\w*\(/;

test("numbers and dates are formatted in the language of the page", async () => {
  const found: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(source)) {
    if (/\.test\.tsx?$/.test(file)) continue;
    if (followsTheBrowser.test(await Bun.file(join(source, file)).text())) found.push(file);
  }
  expect(found).toEqual([]);
});

test.each(["new Intl.NumberFormat(undefined, {})", "new Intl.ListFormat()", "count.toLocaleString()"])("%s", (code) => {
  expect(followsTheBrowser.test(code)).toBe(true);
});
