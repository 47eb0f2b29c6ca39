import { bounds, type Usage, usageClasses } from "#core/index.ts";

/**
 * Makes every count a whole number from 0 to bounds.usageCountMax, because upstreams may report anything: fractions are rounded up, and
 * values that are not numbers become 0. Returns the same object if nothing changes.
 */
export function wholeUsage(usage: Usage): Usage {
  if (isWhole(usage)) return usage;
  const whole: { -readonly [K in keyof Usage]: number } = { ...usage };
  for (const name of usageClasses) whole[name] = isCount(usage[name]) ? usage[name] : toCount(usage[name]);
  return whole;
}

/** A duration in whole microseconds; null if it is unknown or invalid. */
export function durationOrNull(ms: number | null): number | null {
  return ms !== null && Number.isFinite(ms) && ms >= 0 ? wholeMicros(ms) : null;
}

/** Milliseconds, rounded to microseconds. */
export function wholeMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

function isWhole(usage: Usage): boolean {
  for (const name in usage) if (!isCount(usage[name as keyof Usage])) return false;
  return true;
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= bounds.usageCountMax;
}

function toCount(count: number): number {
  if (!(count > 0)) return 0;
  return Math.min(Math.ceil(count), bounds.usageCountMax);
}
