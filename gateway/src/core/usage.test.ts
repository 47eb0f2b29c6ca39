import { expect, test } from "bun:test";
import { inputClasses, inputTokensOf, noUsage, outputClasses, outputTokensOf, usageClasses } from "./usage.ts";

test("sums of input and output count the classes of the table", () => {
  const counted = (sum: typeof inputTokensOf) =>
    usageClasses.filter((name) => sum({ ...noUsage, [name]: 1 }) === 1).toSorted();
  expect(counted(inputTokensOf)).toEqual(inputClasses.toSorted());
  expect(counted(outputTokensOf)).toEqual(outputClasses.toSorted());
});
