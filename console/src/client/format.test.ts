import { expect, test } from "bun:test";
import { formatBytes, formatDuration, formatRelative, formatShare, formatUsd, formatUsdShort } from "./format.ts";

test("small amounts of money keep the digits that matter, big ones are short", () => {
  expect(formatUsd(0.000042)).toContain("0.000042");
  expect(formatUsdShort(0.004)).toContain("0.004");
  expect(formatUsdShort(12.345)).toContain("12.3");
  expect(formatUsdShort(1_234_567)).toMatch(/1\.2\s?M/);
});

test("lengths of time and sizes are told in the two units that count", () => {
  expect(formatDuration(850)).toBe("850 ms");
  expect(formatDuration(200_000)).toBe("3 min 20 s");
  expect(formatDuration(7_500_000)).toBe("2 h 5 min");
  expect(formatDuration(100 * 3_600_000)).toBe("4 d 4 h");
  expect(formatBytes(999)).toBe("999 B");
  expect(formatBytes(1_536_000)).toBe("1.5 MB");
  expect(formatShare(0.032)).toMatch(/3\.2\s?%/);
});

test("how long ago is told in the unit that fits, and a clock that is a little off says now", () => {
  const now = 1_800_000_000_000;
  expect(formatRelative(now + 3_000, now)).toBe("just now");
  expect(formatRelative(now - 180_000, now)).toMatch(/^3 min/);
  expect(formatRelative(now - 59_500, now)).toMatch(/^1 min/);
  expect(formatRelative(now + 2 * 86_400_000, now)).toMatch(/^in 2 days/);
});
