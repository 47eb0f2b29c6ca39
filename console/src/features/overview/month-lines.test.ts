import { expect, test } from "bun:test";
import { forecastLine, sumsSoFar } from "./month-lines.ts";

test("adds up the days until now, and continues to the forecast on the last day", () => {
  const sums = sumsSoFar([0, 1, 2, 3, 4], [2, null, 3, null, null], 3);
  expect(sums).toEqual([2, 2, 5, null, null]);
  expect(forecastLine(sums, 9)).toEqual([null, null, 5, 7, 9]);
});

test("shows the forecast on the last day itself", () => {
  expect(forecastLine([1, 2], 3)).toEqual([null, 3]);
});
