import { t } from "../language/areas/formats.ts";
import { locale } from "../language/chosen.ts";

const whole = new Intl.NumberFormat(locale);

export function formatCount(count: number): string {
  return whole.format(count);
}

/** Small amounts keep their significant digits, because a call often costs less than a cent. */
export function formatUsd(usd: number): string {
  // The ledger counts in billionths.
  const size = Math.abs(usd);
  const digits = size === 0 || size >= 1 ? 2 : size < 0.000_001 ? 9 : 6;
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currencyDisplay: "narrowSymbol",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(usd);
}

/** With all digits of the ledger. */
export function formatUsdExactly(usd: number): string {
  return exact.format(usd);
}

const exact = new Intl.NumberFormat(locale, {
  style: "currency",
  currencyDisplay: "narrowSymbol",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
});

/** Seconds from one second on, so that figures side by side have one unit. */
export function formatMs(ms: number): string {
  if (ms < 10) return t("formats.ms", { count: tenths.format(ms) });
  if (Math.round(ms) < 1_000) return t("formats.ms", { count: plain.format(Math.round(ms)) });
  if (ms < 10_000) return t("formats.s", { count: hundredths.format(ms / 1_000) });
  return t("formats.s", { count: tenths.format(ms / 1_000) });
}

const tenths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  useGrouping: false,
});
const hundredths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 2,
  useGrouping: false,
});
const plain = new Intl.NumberFormat(locale, { useGrouping: false });

/** 1,234 · 12.3k · 4.5M: for tiles and axes; the title has the exact figure. */
export function formatCompact(count: number): string {
  return compact.format(count);
}

const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });

/** For tiles and axes: two digits after the point, compact above ten thousand. */
export function formatUsdShort(usd: number): string {
  if (usd !== 0 && Math.abs(usd) < 0.01) return formatUsd(usd);
  const big = Math.abs(usd) >= 10_000;
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currencyDisplay: "narrowSymbol",
    currency: "USD",
    ...(big ? { notation: "compact", maximumFractionDigits: 1 } : {}),
  }).format(usd);
}

const alignedDigits = 6;
/** A space as wide as a digit with tabular figures. */
const figureSpace = "\u2007";

/**
 * For columns: aligns the decimal points, with up to six decimals. Smaller amounts are shown as less than the smallest one.
 */
export function formatUsdAligned(usd: number): string {
  const least = 10 ** -alignedDigits;
  if (usd > 0 && usd < least / 2) return t("formats.less", { amount: formatUsd(least) });
  const size = Math.abs(usd);
  const text = formatUsd(
    size >= 1 || size === 0 ? usd : Math.sign(usd) * Math.max(least, Math.round(size / least) * least),
  );
  const [, places = ""] = /[.,](\d+)\D*$/.exec(text) ?? [];
  return text + figureSpace.repeat(Math.max(0, alignedDigits - places.length));
}

/** For columns of sums: cents, with all digits of large amounts. */
export function formatCents(usd: number): string {
  if (usd > 0 && usd < 0.005) return t("formats.less", { amount: cents.format(0.01) });
  return cents.format(usd);
}

const cents = new Intl.NumberFormat(locale, { style: "currency", currencyDisplay: "narrowSymbol", currency: "USD" });

export function formatShare(share: number): string {
  return new Intl.NumberFormat(locale, {
    style: "percent",
    maximumFractionDigits: share > 0 && share < 0.1 ? 1 : 0,
  }).format(share);
}

const byteUnits = ["B", "KB", "MB", "GB", "TB"] as const;

export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1_000 && unit < byteUnits.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  const count = unit === 0 || size >= 100 ? plain.format(Math.round(size)) : tenths.format(size);
  return `${count} ${byteUnits[unit] ?? "TB"}`;
}

/** A duration: 850 ms, 1.2 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return formatMs(ms);
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return pair([Math.floor(seconds / 60), "minutes"], [seconds % 60, "s"]);
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return pair([Math.floor(minutes / 60), "hours"], [minutes % 60, "minutes"]);
  const hours = Math.round(minutes / 60);
  return pair([Math.floor(hours / 24), "days"], [hours % 24, "hours"]);
}

type Length = readonly [count: number, unit: "s" | "minutes" | "hours" | "days"];

function pair(big: Length, small: Length): string {
  const text = ([count, unit]: Length) => t(`formats.${unit}`, { count: plain.format(count) });
  return small[0] === 0 ? text(big) : t("formats.pair", { big: text(big), small: text(small) });
}

const relativeUnits: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["second", 1_000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000],
  ["month", 30 * 86_400_000],
  ["year", 365 * 86_400_000],
];

/** "3 minutes ago", "in 2 days". Both are Unix milliseconds. */
export function formatRelative(at: number, nowMs: number): string {
  const away = at - nowMs;
  const size = Math.abs(away);
  if (size < 5_000) return t("formats.justNow");
  const found = relativeUnits.findLast(([, unitMs]) => size >= unitMs * 0.95) ?? relativeUnits[0];
  const [unit, unitMs] = found ?? ["second", 1_000];
  return whenShort.format(Math.round(away / unitMs), unit);
}

export function formatMoment(at: number): string {
  return moments.format(at);
}

// Always with a number: "yesterday" and "last month" mean calendar days and months, and 30 hours ago may be two days back.
const whenShort = new Intl.RelativeTimeFormat(locale, { style: "short" });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });

const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });

const dayMs = 86_400_000;

/** The start of a chart step. Days are UTC days: west of UTC they start on the evening before. */
export function formatStep(at: number, stepMs: number): string {
  return stepMs < dayMs ? formatMoment(at) : t("formats.utcDay", { day: formatDay(at) });
}

/** The UTC day of a timestamp, independent of the reader's time zone. */
export function formatDay(at: number): string {
  return day.format(at);
}
