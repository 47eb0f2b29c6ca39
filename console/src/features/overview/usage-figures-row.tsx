import type { UsageFigures } from "@sluice/contract";
import { formatCompact, formatShare } from "../../client/format.ts";
import { Count, Money, NearDuration } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { errorRateOf } from "./measures.ts";
import { useUsage } from "./use-usage.ts";

/** The state of things at a glance, each beside the same length of time before. */
export function UsageFiguresRow() {
  const usage = useUsage("none");
  if (usage.error !== null && usage.data === undefined) {
    return <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />;
  }
  const { totals, previous, series } = usage.data ?? {};
  const points = series?.[0]?.points ?? [];
  const trend = (figure: (figures: UsageFigures) => number | null, nothing: number | null = 0) => ({
    trend: points.map((each) => (each === null ? nothing : figure(each))),
  });
  const change = (figure: (figures: UsageFigures) => number | null) =>
    totals === undefined || previous === undefined ? {} : { change: { now: figure(totals), before: figure(previous) } };
  return (
    <Stats label="Usage in figures">
      <Stat
        label="Spend"
        value={totals && <Money usd={totals.cost_usd} short />}
        {...change((each) => each.cost_usd)}
        {...trend((each) => each.cost_usd)}
      />
      <Stat
        label="Requests"
        value={totals && <Count value={totals.requests} short />}
        {...change((each) => each.requests)}
        {...trend((each) => each.requests)}
      />
      <Stat
        label="Error rate"
        value={totals && <ErrorRate figures={totals} />}
        hint={totals && <Failures figures={totals} />}
        {...change(errorRateOf)}
        {...trend(errorRateOf, null)}
        better="less"
      />
      <Stat
        label="Latency, median"
        value={totals && <NearDuration ms={totals.latency_p50_ms} />}
        hint={totals && <Slow ms={totals.latency_p95_ms} />}
        {...change((each) => each.latency_p50_ms)}
        {...trend((each) => each.latency_p50_ms, null)}
        better="less"
      />
      <Stat
        label="First token, median"
        value={totals && <NearDuration ms={totals.first_token_p50_ms} />}
        hint={totals && <Slow ms={totals.first_token_p95_ms} />}
        {...change((each) => each.first_token_p50_ms)}
        {...trend((each) => each.first_token_p50_ms, null)}
        better="less"
      />
    </Stats>
  );
}

function ErrorRate({ figures }: { readonly figures: UsageFigures }) {
  const rate = errorRateOf(figures);
  return rate === null ? <Count value={null} /> : formatShare(rate);
}

/** What callers saw, and beside it what retries and fallbacks kept from them. */
function Failures({ figures }: { readonly figures: UsageFigures }) {
  const { failed_requests: seen, failed, cancelled } = figures;
  const kept = Math.max(0, failed - seen);
  const parts = [
    seen > 0 ? `${formatCompact(seen)} failed` : null,
    kept > 0 ? `${formatCompact(kept)} attempts retried` : null,
    cancelled > 0 ? `${formatCompact(cancelled)} cancelled` : null,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  return <span title="Of all requests, those whose callers got no whole answer.">{parts.join(" · ")}</span>;
}

function Slow({ ms }: { readonly ms: number | null }) {
  if (ms === null) return null;
  return (
    <span title="One in twenty takes longer. It is read from spans of time, so it is near.">
      p95 <NearDuration ms={ms} />
    </span>
  );
}
