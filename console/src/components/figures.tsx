import { useEffect, useState } from "react";
import {
  formatBytes,
  formatCents,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoment,
  formatRelative,
  formatShare,
  formatUsd,
  formatUsdAligned,
  formatUsdExactly,
  formatUsdShort,
} from "../client/format.ts";
import { t } from "../language/areas/components.ts";

/** Shown for a missing figure: a dash, with a word for screen readers. */
export function Nothing({ word = t("components.figures.none") }: { readonly word?: string }) {
  return (
    <span className="nothing">
      <span aria-hidden="true">–</span>
      <span className="unseen">{word}</span>
    </span>
  );
}

interface MoneyProps {
  readonly usd: number | null;
  /** Two decimals, compact for large amounts; the title has the exact amount. */
  readonly short?: boolean;
  /** Aligns the decimal points in a column. */
  readonly aligned?: boolean;
  /** Whole cents, for columns of sums; the title has the exact amount. */
  readonly cents?: boolean;
}

export function Money({ usd, short = false, aligned = false, cents = false }: MoneyProps) {
  if (usd === null) return <Nothing word={t("components.figures.noCost")} />;
  const words = cents
    ? formatCents(usd)
    : aligned
      ? formatUsdAligned(usd)
      : short
        ? formatUsdShort(usd)
        : formatUsd(usd);
  const whole = formatUsdExactly(usd);
  return (
    <span
      className={aligned ? "tabular aligned-money" : "tabular"}
      title={aligned || short || words !== whole ? whole : undefined}
    >
      {words}
    </span>
  );
}

interface CountProps {
  readonly value: number | null;
  readonly short?: boolean;
  readonly unit?: string;
}

export function Count({ value, short = false, unit }: CountProps) {
  if (value === null) return <Nothing />;
  return (
    <span className="tabular" title={short ? formatCount(value) : undefined}>
      {short ? formatCompact(value) : formatCount(value)}
      {unit === undefined ? null : ` ${unit}`}
    </span>
  );
}

export function Duration({ ms }: { readonly ms: number | null }) {
  return ms === null ? <Nothing /> : <span className="tabular">{formatDuration(ms)}</span>;
}

export function Share({ share }: { readonly share: number | null }) {
  return share === null ? <Nothing /> : <span className="tabular">{formatShare(share)}</span>;
}

export function Bytes({ value }: { readonly value: number | null }) {
  return value === null ? <Nothing /> : <span className="tabular">{formatBytes(value)}</span>;
}

interface WhenProps {
  /** Unix milliseconds. */
  readonly at: number | null;
  /** The text for null; default: "Never". */
  readonly missing?: string;
  /** Shows date and time instead of relative time. */
  readonly exact?: boolean;
}

const tickMs = 30_000;

/** Relative time that updates while the page is open; the title has the exact time. */
export function When({ at, missing = t("components.figures.never"), exact = false }: WhenProps) {
  const [now, setNow] = useState(Date.now);
  const relative = at !== null && !exact;
  useEffect(() => {
    if (!relative) return;
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [relative]);
  if (at === null) return <span className="nothing">{missing}</span>;
  const moment = formatMoment(at);
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={exact ? undefined : moment}
      className={exact ? undefined : "nowrap"}
    >
      {exact ? moment : formatRelative(at, Math.max(now, Date.now() - tickMs))}
    </time>
  );
}
