import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const source = join(import.meta.dir, "..");
const unaligned = /\bcell: [^\n]*<Money(?![^>]*\b(?:aligned|cents)\b)[^>]*>/;

test("amounts of money in a column align at the decimal point or have whole cents", async () => {
  const found: string[] = [];
  for await (const file of new Glob("**/*.tsx").scan(source)) {
    if (unaligned.test(await Bun.file(join(source, file)).text())) found.push(file);
  }
  expect(found).toEqual([]);
});

test("an amount that is only short is found", () => {
  expect(unaligned.test("cell: (row) => <Money usd={row.cost} short />,")).toBe(true);
  expect(unaligned.test("cell: (row) => <Money usd={row.cost} aligned />,")).toBe(false);
  expect(unaligned.test("cell: (row) => <Money usd={row.cost} cents />,")).toBe(false);
});
