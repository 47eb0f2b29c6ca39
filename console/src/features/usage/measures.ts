import type { UsageFigures, UsageMeasure, UsageSeries, UsageSort } from "@sluice/contract";
import { formatCompact, formatDuration, formatShare, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/usage.ts";

interface MeasureSpec {
  readonly label: string;
  /** The figures of its points, from which `of` computes the value. */
  readonly figures: readonly UsageMeasure[];
  readonly of: (figures: Partial<Record<UsageMeasure, number>>) => number | null;
  /** Sums can be stacked and have a total; others, and amounts below zero, are lines. */
  readonly isSum: boolean;
  readonly format: (value: number) => string;
  /** The order of the list. */
  readonly sort: UsageSort;
}

const sum = (
  label: string,
  figures: readonly UsageMeasure[],
  sort: UsageSort,
  format: (value: number) => string = formatCompact,
): MeasureSpec => ({
  label,
  figures,
  of: (values) => figures.reduce((all, name) => all + (values[name] ?? 0), 0),
  isSum: true,
  format,
  sort,
});

const single = (
  label: string,
  figure: UsageMeasure,
  sort: UsageSort,
  format: (value: number) => string,
): MeasureSpec => ({
  label,
  figures: [figure],
  of: (values) => values[figure] ?? null,
  isSum: false,
  format,
  sort,
});

export const measures = {
  cost: sum(t("usage.measure.cost"), ["cost_usd"], "-cost_usd", formatUsdShort),
  requests: sum(t("usage.measure.requests"), ["requests"], "-requests"),
  errors: sum(t("usage.measure.errors"), ["failed_requests"], "-failed_requests"),
  error_rate: {
    label: t("usage.measure.errorRate"),
    figures: ["failed_requests", "requests"],
    of: ({ failed_requests = 0, requests = 0 }) => errorRateOf({ failed_requests, requests }),
    isSum: false,
    format: formatShare,
    sort: "-error_rate",
  },
  tokens: sum(t("usage.measure.tokens"), ["input_tokens", "output_tokens"], "-tokens"),
  input: sum(t("usage.measure.input"), ["input_tokens"], "-tokens"),
  cached: sum(t("usage.measure.cached"), ["cached_tokens"], "-tokens"),
  cache_writes: sum(t("usage.measure.cacheWrites"), ["cache_write_tokens"], "-tokens"),
  output: sum(t("usage.measure.output"), ["output_tokens"], "-tokens"),
  reasoning: sum(t("usage.measure.reasoning"), ["reasoning_tokens"], "-reasoning_tokens"),
  reasoning_share: single(t("usage.measure.reasoningShare"), "reasoning_share", "-reasoning_share", formatShare),
  cache_share: single(t("usage.measure.cacheShare"), "cache_read_share", "-cache_read_share", formatShare),
  cache_saved: single(t("usage.measure.cacheSaved"), "cache_saved_usd", "-cache_saved_usd", formatUsdShort),
  p50: single(t("usage.measure.p50"), "request_latency_p50_ms", "-request_latency_p50_ms", formatDuration),
  p95: single(t("usage.measure.p95"), "request_latency_p95_ms", "-request_latency_p95_ms", formatDuration),
  first_token: single(
    t("usage.measure.firstToken"),
    "request_first_token_p50_ms",
    "-request_first_token_p50_ms",
    formatDuration,
  ),
  first_token_p95: single(
    t("usage.measure.firstTokenP95"),
    "request_first_token_p95_ms",
    "-request_first_token_p95_ms",
    formatDuration,
  ),
} as const satisfies Record<string, MeasureSpec>;

export type Measure = keyof typeof measures;

export function isMeasure(text: string): text is Measure {
  return Object.hasOwn(measures, text);
}

type Points = UsageSeries["previous_points"];

/** The values of a measure at each step. Steps without calls are 0 for sums, and gaps for others. */
export function valuesOf(points: Points, { figures, of, isSum }: MeasureSpec, steps: number): (number | null)[] {
  return Array.from({ length: steps }, (_, place) => {
    const values = figures.map((name) => [name, points[name]?.[place] ?? null] as const);
    if (values.every(([, value]) => value === null)) return isSum ? 0 : null;
    return of(Object.fromEntries(values.filter(([, value]) => value !== null)));
  });
}

/** Share of requests without a complete answer; null without requests. Retries and fallbacks hide failed attempts. */
export function errorRateOf({
  requests,
  failed_requests: failed,
}: Pick<UsageFigures, "requests" | "failed_requests">): number | null {
  return requests === 0 ? null : Math.min(1, failed / requests);
}
