import { expect, test } from "bun:test";
import { connectionsWith } from "./machine-memory.ts";

test("connections leave the process the open files that it needs itself", () => {
  expect([1_024, 20_000, 65_536].map(connectionsWith)).toEqual([256, 5_898, 21_077]);
  expect(connectionsWith(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  for (let descriptors = 64; descriptors <= 1_048_576; descriptors *= 2) {
    expect(3 * connectionsWith(descriptors)).toBeLessThanOrEqual(descriptors);
  }
});
