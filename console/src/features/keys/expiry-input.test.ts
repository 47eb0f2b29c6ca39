import { expect, test } from "bun:test";
import { localText, momentOf } from "./expiry-input.tsx";

test("the field's value reads back as the same minute, in summer and winter time", () => {
  for (const at of [Date.UTC(2026, 0, 15, 12, 30), Date.UTC(2026, 6, 15, 23, 59), Date.UTC(2027, 2, 28, 1, 0)])
    expect(momentOf(localText(at))).toBe(at);
});

test("an emptied or half-written field is no date", () => {
  expect([momentOf(""), momentOf("2026-13-40T99:99")]).toEqual([null, null]);
  expect(localText(Number.MAX_SAFE_INTEGER)).toBe("");
});
