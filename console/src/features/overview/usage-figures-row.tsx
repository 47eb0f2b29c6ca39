import type { UsageFigures, UsageMeasure } from "@sluice/contract";
import { formatCompact, formatShare } from "../../client/format.ts";
import { Count, Duration, Money } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { Rich, t } from "../../language/areas/overview.ts";
import { errorRateOf } from "./measures.ts";
import { useUsage } from "./use-usage.ts";

const trends = [
  ...(["cost_usd", "requests", "failed_requests"] as const),
  ...(["request_latency_p50_ms", "request_first_token_p50_ms", "cache_read_share"] as const),
];

/** Key figures, each compared with the previous period. */
export function UsageFiguresRow() {
  const usage = useUsage("none", trends);
  if (usage.error !== null && usage.data === undefined) {
    return <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />;
  }
  const { totals, previous, series } = usage.data ?? {};
  const points = series?.[0]?.points ?? {};
  const trend = (measure: UsageMeasure, nothing: number | null = 0) => ({
    trend: (points[measure] ?? []).map((value) => value ?? nothing),
  });
  const { requests = [], failed_requests: failed = [] } = points;
  const errorTrend = requests.map((all, place) =>
    errorRateOf({ requests: all ?? 0, failed_requests: failed[place] ?? 0 }),
  );
  const change = (figure: (figures: UsageFigures) => number | null) =>
    totals === undefined || previous === undefined ? {} : { change: { now: figure(totals), before: figure(previous) } };
  return (
    <Stats label={t("overview.figures.title")}>
      <Stat
        label={t("overview.measure.spend")}
        value={totals && <Money usd={totals.cost_usd} short />}
        {...change((each) => each.cost_usd)}
        {...trend("cost_usd")}
      />
      <Stat
        label={t("overview.measure.requests")}
        value={totals && <Count value={totals.requests} short />}
        {...change((each) => each.requests)}
        {...trend("requests")}
      />
      <Stat
        label={t("overview.figures.errorRate")}
        value={totals && <ErrorRate figures={totals} />}
        hint={totals && <Failures figures={totals} />}
        {...change(errorRateOf)}
        trend={errorTrend}
        better="less"
      />
      <Stat
        label={t("overview.figures.latency")}
        value={totals && <Time figures={totals} figure="request_latency_p50_ms" />}
        hint={totals && <Slow figures={totals} figure="request_latency_p95_ms" />}
        {...change((each) => each.request_latency_p50_ms)}
        {...trend("request_latency_p50_ms", null)}
        better="less"
      />
      <Stat
        label={t("overview.figures.firstToken")}
        value={totals && <Time figures={totals} figure="request_first_token_p50_ms" />}
        hint={totals && <Slow figures={totals} figure="request_first_token_p95_ms" />}
        {...change((each) => each.request_first_token_p50_ms)}
        {...trend("request_first_token_p50_ms", null)}
        better="less"
      />
      <Stat
        label={t("overview.figures.cacheReads")}
        value={totals && <span className="tabular">{shareOf(totals)}</span>}
        {...change((each) => each.cache_read_share)}
        {...trend("cache_read_share", null)}
      />
    </Stats>
  );
}

function shareOf({ cache_read_share: share }: UsageFigures): string {
  return share === null ? "–" : formatShare(share);
}

function ErrorRate({ figures }: { readonly figures: UsageFigures }) {
  const rate = errorRateOf(figures);
  return rate === null ? <Count value={null} /> : formatShare(rate);
}

/** Errors that clients received, and errors that retries and fallbacks hid from them. */
function Failures({ figures }: { readonly figures: UsageFigures }) {
  const { failed_requests: seen, failed, cancelled } = figures;
  const retried = Math.max(0, failed - seen);
  const parts = [
    seen > 0 ? t("overview.figures.failed", { count: formatCompact(seen) }) : null,
    retried > 0 ? t("overview.figures.retried", { count: formatCompact(retried) }) : null,
    cancelled > 0 ? t("overview.figures.cancelled", { count: formatCompact(cancelled) }) : null,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  return <span title={t("overview.figures.errorRateHelp")}>{parts.join(" · ")}</span>;
}

interface TimeProps {
  readonly figures: UsageFigures;
  readonly figure: Extract<keyof UsageFigures, `request_${string}_ms`>;
}

function Time({ figures, figure }: TimeProps) {
  return <Duration ms={figures[figure]} />;
}

function Slow({ figures, figure }: TimeProps) {
  if (figures[figure] === null) return null;
  return (
    <span title={t("overview.figures.slowHelp")}>
      <Rich text="overview.figures.slow" tags={{ duration: () => <Time figures={figures} figure={figure} /> }} />
    </span>
  );
}
