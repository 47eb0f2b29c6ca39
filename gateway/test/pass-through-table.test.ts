import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { deniedPaths } from "#providers/index.ts";

test("the pass-through document lists every denied path, and no other", () => {
  const page = readFileSync(new URL("../../docs/pass-through.md", import.meta.url), "utf8");
  const [, after = ""] = page.split("## Denied paths");
  const rows = (after.split("\n## ")[0] ?? "").matchAll(/^\| (.+) \| (`.+`) \|$/gm);
  const shown = [...rows].map(([, what, paths]) => [what, paths]);
  expect(shown).toEqual(deniedPaths.map(({ what, paths }) => [what, paths.map((path) => `\`${path}\``).join(", ")]));
});
