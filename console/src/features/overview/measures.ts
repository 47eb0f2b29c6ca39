import type { UsageFigures, UsageMeasure, UsageSeries } from "@sluice/contract";
import { formatCompact, formatUsdShort } from "../../client/format.ts";
import type { ChartProps, ChartSeries } from "../../components/chart-props.ts";
import { modelLabel } from "../../components/model-label.ts";
import { t } from "../../language/areas/overview.ts";
import { locale } from "../../language/chosen.ts";

/** The measures that the chart can show. */
export const measures = ["spend", "requests", "errors", "latency", "first-token", "tokens"] as const;
export type Measure = (typeof measures)[number];

/** p50: half of the calls are slower; p95: one in twenty is. */
export type Percentile = "p50" | "p95";

export const measureWords: Readonly<Record<Measure, string>> = {
  spend: t("overview.measure.spend"),
  requests: t("overview.measure.requests"),
  errors: t("overview.measure.errors"),
  latency: t("overview.measure.latency"),
  "first-token": t("overview.measure.firstToken"),
  tokens: t("overview.measure.tokens"),
};

export function isMeasure(text: string): text is Measure {
  return measures.some((each) => each === text);
}

export function isTimed(measure: Measure): boolean {
  return measure === "latency" || measure === "first-token";
}

/** Share of requests without a complete answer; null without requests. Retries and fallbacks hide failed attempts. */
export function errorRateOf(figures: Pick<UsageFigures, "requests" | "failed_requests">): number | null {
  return figures.requests === 0 ? null : Math.min(1, figures.failed_requests / figures.requests);
}

/** Share of failed attempts: the health of upstreams, regardless of retries. */
export function attemptErrorRateOf(figures: UsageFigures): number | null {
  return figures.attempts === 0 ? null : figures.failed / figures.attempts;
}

/**
 * Latency of requests as seen by callers, including retries and fallbacks, or (`ofAttempts`) of single attempts, for the speed of
 * upstreams.
 */
export function latencyOf(figures: UsageFigures, percentile: Percentile, ofAttempts: boolean): number | null {
  if (percentile === "p50") return ofAttempts ? figures.latency_p50_ms : figures.request_latency_p50_ms;
  return ofAttempts ? figures.latency_p95_ms : figures.request_latency_p95_ms;
}

/** The figures that a measure is the sum of. */
export function figuresOf(measure: Measure, percentile: Percentile, ofAttempts: boolean): readonly UsageMeasure[] {
  switch (measure) {
    case "spend":
      return ["cost_usd"];
    case "requests":
      return ["requests"];
    case "errors":
      return [ofAttempts ? "failed" : "failed_requests"];
    case "tokens":
      return ["input_tokens", "output_tokens"];
    case "latency":
      return [ofAttempts ? `latency_${percentile}_ms` : `request_latency_${percentile}_ms`];
    case "first-token":
      return [ofAttempts ? `first_token_${percentile}_ms` : `request_first_token_${percentile}_ms`];
  }
}

/** How to draw a measure: sums as stacked bars, times as lines. */
export function chartOf(
  usage: Pick<UsageSeries, "at" | "series" | "step_ms">,
  measure: Measure,
  percentile: Percentile,
  ofAttempts = false,
): Pick<ChartProps, "kind" | "at" | "series" | "stepMs" | "format"> {
  const timed = isTimed(measure);
  const figures = figuresOf(measure, percentile, ofAttempts);
  return {
    kind: timed ? "line" : "bar",
    at: usage.at,
    stepMs: usage.step_ms,
    format: formatOf(measure),
    series: usage.series.map(
      (line): ChartSeries => ({
        id: line.id,
        label: lineName(line, ofAttempts),
        values: usage.at.map((_, place) => valueAt(line.points, figures, place) ?? (timed ? null : 0)),
        quiet: line.id === "",
      }),
    ),
  };
}

function valueAt(
  points: UsageSeries["series"][number]["points"],
  figures: readonly UsageMeasure[],
  place: number,
): number | null {
  const values = figures.map((figure) => points[figure]?.[place] ?? null);
  return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/**
 * The name of a line. The id "-" means requests refused before a provider was chosen (by provider), or requests of keys without an owner
 * (by person).
 */
export function lineName(
  { id, label }: Pick<UsageSeries["series"][number], "id" | "label">,
  byProvider: boolean,
): string {
  if (id === "-" && !byProvider) return t("overview.lines.nobody");
  return label === "" ? t("overview.lines.rest") : modelLabel(label);
}

function formatOf(measure: Measure): (value: number) => string {
  if (measure === "spend") return formatSpend;
  return isTimed(measure) ? formatTime : formatCompact;
}

/** Below ten cents: enough digits to make axis labels different. */
function formatSpend(usd: number): string {
  return usd === 0 || usd >= 0.1 ? formatUsdShort(usd) : cents.format(usd);
}

const cents = new Intl.NumberFormat(locale, {
  style: "currency",
  currencyDisplay: "narrowSymbol",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** Short enough for an axis: 800 ms, 1.43 s. */
function formatTime(ms: number): string {
  return ms < 1_000
    ? t("overview.ms", { ms: threeDigits.format(ms) })
    : t("overview.seconds", { seconds: threeDigits.format(ms / 1_000) });
}

const threeDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
