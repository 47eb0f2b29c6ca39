import { bounds, type Usage, usageClasses } from "#core/index.ts";

/**
 * Usage comes from upstreams, which may say anything. An entry holds whole counts ≥ 0 only: fractions are rounded up,
 * what is no count is none, and more than anybody uses is the most that is believed. The usual case gives back the object it was given.
 */
export function wholeUsage(usage: Usage): Usage {
  if (isWhole(usage)) return usage;
  const whole: { -readonly [K in keyof Usage]: number } = { ...usage };
  for (const name of usageClasses) whole[name] = isCount(usage[name]) ? usage[name] : toCount(usage[name]);
  return whole;
}

/** A duration as the ledger keeps it: null when it is not known or is not a time. */
export function knownMs(ms: number | null): number | null {
  return ms !== null && Number.isFinite(ms) && ms >= 0 ? wholeMicros(ms) : null;
}

/** Milliseconds without the fractions of microseconds, which the ledger does not keep. */
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
