import { expect, test } from "bun:test";
import {
  formatBytes,
  formatCents,
  formatDuration,
  formatRelative,
  formatShare,
  formatStep,
  formatUsd,
  formatUsdAligned,
  formatUsdExactly,
  formatUsdShort,
} from "./format.ts";

test("small amounts keep their significant digits, large ones are compact", () => {
  expect(formatUsd(0.000042)).toContain("0.000042");
  expect(formatUsdExactly(12.345_678_9)).toBe("$12.3456789");
  expect(formatUsdShort(0.004)).toContain("0.004");
  expect(formatUsdShort(12.345)).toContain("12.3");
  expect(formatUsdShort(1_234_567)).toMatch(/1\.2\s?M/);
});

test("durations and sizes are shown in their two largest units", () => {
  expect(formatDuration(850)).toBe("850 ms");
  expect([999.4, 999.6, 2_491, 12_640].map(formatDuration)).toEqual(["999 ms", "1.0 s", "2.49 s", "12.6 s"]);
  expect(formatDuration(200_000)).toBe("3 min 20 s");
  expect(formatDuration(7_500_000)).toBe("2 h 5 min");
  expect(formatDuration(100 * 3_600_000)).toBe("4 d 4 h");
  expect(formatBytes(999)).toBe("999 B");
  expect(formatBytes(1_536_000)).toBe("1.5 MB");
  expect(formatShare(0.032)).toMatch(/3\.2\s?%/);
});

test("relative times use the fitting unit, and small clock differences show as now", () => {
  const now = 1_800_000_000_000;
  expect(formatRelative(now + 3_000, now)).toBe("just now");
  expect(formatRelative(now - 180_000, now)).toMatch(/^3 min/);
  expect(formatRelative(now - 59_500, now)).toMatch(/^1 min/);
  expect(formatRelative(now + 2 * 86_400_000, now)).toMatch(/^in 2 days/);
  // These must not read as yesterday or last month: 23 hours ago may be today, and 29 days ago the same month.
  expect([23, 29 * 24].map((hours) => formatRelative(now - hours * 3_600_000, now))).toEqual([
    "1 day ago",
    "1 mo. ago",
  ]);
});

test("amounts in a column align at the decimal point, and tiny amounts are not shown as zero", () => {
  const amounts = [0, 0.000_000_36, 0.000_002, 0.01, 0.989_809, 1.67, 12_345.6, -0.25].map(formatUsdAligned);
  expect(amounts.map((text) => text.trimEnd())).toEqual([
    "$0.00",
    "< $0.000001",
    "$0.000002",
    "$0.01",
    "$0.989809",
    "$1.67",
    "$12,345.60",
    "-$0.25",
  ]);
  expect(new Set(amounts.map((text) => text.length - text.indexOf(".")))).toEqual(new Set([7]));
});

test("sums in a column have whole cents, and a part of a cent is not shown as zero", () => {
  expect([0, 0.000_42, 0.485_592, 1.22, 20_123.456].map(formatCents)).toEqual([
    "$0.00",
    "< $0.01",
    "$0.49",
    "$1.22",
    "$20,123.46",
  ]);
});

test("a daily step is shown as its UTC day, an hourly step as its time", () => {
  expect(formatStep(Date.UTC(2026, 10, 23), 86_400_000)).toBe("Nov 23, 2026 UTC");
  expect(formatStep(Date.UTC(2026, 10, 23), 3_600_000)).not.toContain("UTC");
});
