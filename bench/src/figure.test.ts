import { expect, test } from "bun:test";
import { differences, figure, ratios, say, verdict } from "./figure.ts";

test("A figure is missed when its median is on the wrong side of the target", () => {
  expect(verdict(figure("cost", [1, 2, 9], { unit: "µs", target: { most: 2 } }))).toBe("ok");
  expect(verdict(figure("cost", [1, 3, 9], { unit: "µs", target: { most: 2 } }))).toBe("missed");
  expect(verdict(figure("rate", [8_000], { unit: "1/s", target: { least: 8_001 } }))).toBe("missed");
});

test("What was not measured is never called ok", () => {
  expect(verdict(figure("cost", [], { unit: "µs", target: { most: 2 } }))).toBe("not measured");
  expect(verdict(figure("cost", [1], { unit: "µs" }))).toBe("no target");
});

test("Contenders are compared round by round, and only where both were measured", () => {
  expect(ratios([10, 20, 30], [5, 10])).toEqual([2, 2]);
  expect(ratios([10], [])).toEqual([]);
  expect(differences([3, 5], [1, 1])).toEqual([2, 4]);
});

test("Numbers are written with the digits that matter", () => {
  expect([say(0.1234), say(12.34), say(12_345.6), say(undefined)]).toEqual(["0.12", "12.3", "12,346", "–"]);
});
