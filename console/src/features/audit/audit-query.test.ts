import { expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { auditQueryOf, entryName, entryNamed } from "./audit-query.ts";

const month = { name: "30d", from: 1_000, to: 2_000 };

test("search, action and time reach the gateway; a time that ends now stays open", () => {
  const query = auditQueryOf({ search: " ada ", action: "update" }, month);
  expect(query).toEqual({ search: "ada", action: "update", from: 1_000 });
  expect(consoleRoutes["audit.list"].query?.safeParse(query).success).toBe(true);
  expect(auditQueryOf({}, { ...month, name: null })).toEqual({ from: 1_000, to: 2_000 });
});

test("the URL parameter of an entry is read back, and other values are ignored", () => {
  expect(entryNamed(entryName({ seq: 12, at: 1_790_000_000_000 }))).toEqual({ seq: 12, at: 1_790_000_000_000 });
  for (const wrong of ["", "12", "12.", "a.b", "1.2.3", `1.${"9".repeat(20)}`]) expect(entryNamed(wrong)).toBeNull();
});
