const whole = new Intl.NumberFormat();

export function formatCount(count: number): string {
  return whole.format(count);
}

/** Small amounts keep the digits that matter: a call often costs less than a cent. */
export function formatUsd(usd: number): string {
  const digits = usd === 0 || usd >= 1 ? 2 : 6;
  return new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(usd);
}

export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${Math.round(ms)} ms`;
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** "resets in 3 minutes", from Unix seconds. */
export function formatReset(resetsAt: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round(resetsAt - nowMs / 1_000));
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "always" });
  if (seconds < 90) return `resets ${relative.format(seconds, "second")}`;
  if (seconds < 90 * 60) return `resets ${relative.format(Math.round(seconds / 60), "minute")}`;
  if (seconds < 36 * 3_600) return `resets ${relative.format(Math.round(seconds / 3_600), "hour")}`;
  return `resets ${relative.format(Math.round(seconds / 86_400), "day")}`;
}
