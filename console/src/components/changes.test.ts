import { expect, test } from "bun:test";
import { changesBetween } from "./changes.ts";

test("lists each changed, added or removed field, and no unchanged one", () => {
  const before = { name: "ci", limits: { rpm: 60 }, models: ["a", "b"], tags: {} };
  const after = { name: "ci", limits: { rpm: 90, tpm: 5 }, models: ["a"], budget: { usd: 1 } };
  expect(changesBetween(before, after)).toEqual([
    { path: "limits.rpm", before: 60, after: 90 },
    { path: "limits.tpm", before: undefined, after: 5 },
    { path: "models.1", before: "b", after: undefined },
    { path: "tags", before: {}, after: undefined },
    { path: "budget.usd", before: undefined, after: 1 },
  ]);
});

test("lists the fields of an added or removed value; equal values have no changes", () => {
  expect(changesBetween(null, { a: 1, b: { c: 2 } }).map((change) => change.path)).toEqual(["a", "b.c"]);
  expect(changesBetween({ a: 1 }, null)).toEqual([{ path: "a", before: 1, after: undefined }]);
  expect(changesBetween({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
  expect(changesBetween({ a: 1 }, { a: "1" })).toEqual([{ path: "a", before: 1, after: "1" }]);
  expect(changesBetween({ a: [1] }, { a: 1 })).toEqual([{ path: "a", before: [1], after: 1 }]);
});
