import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { boundsList, boundsOfCore, pageOfBounds } from "./bounds-list.ts";
import { name, product } from "./module-graph.ts";

test("bounds.txt lists every bound with its value; `bun gateway/test/bounds-list.ts` writes it", () => {
  expect(readFileSync(pageOfBounds, "utf8")).toBe(boundsList());
});

test("every bound in core is used", () => {
  const text = product
    .filter((file) => !name(file).startsWith("core/bounds/"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const used = new Set([...text.matchAll(/\w+/g)].map(String));
  expect(boundsOfCore().filter((bound) => !used.has(bound))).toEqual([]);
});
