import type { UsageFigures, UsageSeries } from "@sluice/contract";
import { formatCompact, formatUsdShort } from "../../client/format.ts";
import type { ChartProps, ChartSeries } from "../../components/chart-props.ts";
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
export function errorRateOf(figures: UsageFigures): number | null {
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

function firstTokenOf(figures: UsageFigures, percentile: Percentile, ofAttempts: boolean): number | null {
  if (percentile === "p50") return ofAttempts ? figures.first_token_p50_ms : figures.request_first_token_p50_ms;
  return ofAttempts ? figures.first_token_p95_ms : figures.request_first_token_p95_ms;
}

/** How to draw a measure: sums as stacked bars, times as lines. */
export function chartOf(
  usage: Pick<UsageSeries, "at" | "series" | "step_ms">,
  measure: Measure,
  percentile: Percentile,
  ofAttempts = false,
): Pick<ChartProps, "kind" | "at" | "series" | "stepMs" | "format"> {
  const timed = isTimed(measure);
  return {
    kind: timed ? "line" : "bar",
    at: usage.at,
    stepMs: usage.step_ms,
    format: formatOf(measure),
    series: usage.series.map((line): ChartSeries => {
      const figure = figureOf(measure, percentile, ofAttempts);
      return {
        id: line.id,
        label: lineName(line, ofAttempts),
        values: line.points.map((point) => (point === null ? (timed ? null : 0) : figure(point))),
        quiet: line.id === "",
      };
    }),
  };
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
  return label || t("overview.lines.rest");
}

function figureOf(
  measure: Measure,
  percentile: Percentile,
  ofAttempts: boolean,
): (figures: UsageFigures) => number | null {
  switch (measure) {
    case "spend":
      return (figures) => figures.cost_usd;
    case "requests":
      return (figures) => figures.requests;
    case "errors":
      return (figures) => (ofAttempts ? figures.failed : figures.failed_requests);
    case "tokens":
      return (figures) => figures.input_tokens + figures.output_tokens;
    case "latency":
      return (figures) => latencyOf(figures, percentile, ofAttempts);
    case "first-token":
      return (figures) => firstTokenOf(figures, percentile, ofAttempts);
  }
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
