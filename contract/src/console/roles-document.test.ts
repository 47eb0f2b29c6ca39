import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { withRolesTable } from "./roles-document.ts";

test("docs/console-roles.md matches the routes (update it with contract/src/write-roles.ts)", () => {
  const page = readFileSync(new URL("../../../docs/console-roles.md", import.meta.url), "utf8");
  expect(page.split("\n").length).toBeGreaterThan(60);
  expect(page).toBe(withRolesTable(page));
});
