import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { deniedPaths } from "#providers/index.ts";

test("the page on pass-through shows every path that is denied, and no other", () => {
  const page = readFileSync(new URL("../../docs/pass-through.md", import.meta.url), "utf8");
  const [, after = ""] = page.split("## What is denied");
  const shown = [...(after.split("\n## ")[0] ?? "").matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, parts, what]) => [
    parts,
    what,
  ]);
  expect(shown).toEqual(deniedPaths.map(({ parts, what }) => [parts.join("/"), what]));
});
