import { expect, test } from "bun:test";
import { differences, figure, formatNumber, ratios, verdict } from "./figure.ts";

test("a figure fails if its median is on the wrong side of the target", () => {
  expect(verdict(figure("cost", [1, 2, 9], { unit: "µs", target: { most: 2 } }))).toBe("ok");
  expect(verdict(figure("cost", [1, 3, 9], { unit: "µs", target: { most: 2 } }))).toBe("missed");
  expect(verdict(figure("rate", [8_000], { unit: "1/s", target: { least: 8_001 } }))).toBe("missed");
});

test("a figure without a measurement is never ok", () => {
  expect(verdict(figure("cost", [], { unit: "µs", target: { most: 2 } }))).toBe("not measured");
  expect(verdict(figure("cost", [1], { unit: "µs" }))).toBe("no target");
});

test("compares contenders round by round, only if both were measured", () => {
  expect(ratios([10, 20, 30], [5, 10])).toEqual([2, 2]);
  expect(ratios([10], [])).toEqual([]);
  expect(differences([3, 5], [1, 1])).toEqual([2, 4]);
});

test("formats numbers with three significant digits", () => {
  expect([formatNumber(0.1234), formatNumber(12.34), formatNumber(12_345.6), formatNumber(undefined)]).toEqual([
    "0.12",
    "12.3",
    "12,346",
    "–",
  ]);
});
