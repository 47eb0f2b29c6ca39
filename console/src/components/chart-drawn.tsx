import "@mantine/charts/styles.css";
import { AreaChart, BarChart, LineChart } from "@mantine/charts";
import { useMemo } from "react";
import { formatCompact, formatStep } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { locale } from "../language/chosen.ts";
import { dayMs, momentTicks, showsTime, valueTicks } from "./chart-axis.ts";
import type { ChartProps, ChartSeries } from "./chart-props.ts";

/** The series also differ in lightness and contrast with both themes. The accent comes first. */
const colours = [
  "cyan.6",
  "indigo.5",
  "teal.5",
  "orange.5",
  "grape.5",
  "lime.6",
  "pink.5",
  "blue.4",
  "yellow.6",
  "red.5",
];
/** Hidden from screen readers, which get a table instead, so nothing in it may be focusable. */
const silent = { accessibilityLayer: false };

/** The part of `Chart` that draws, in a separate chunk. */
export default function ChartDrawn(props: ChartProps & { readonly height: number }) {
  const { kind, at, series, stepMs, format = formatCompact, stacked = kind !== "line", height } = props;
  // Series are keyed by index: Recharts would read a name such as gpt-4.1 as a path into the data.
  const data = useMemo(() => at.map((moment, place) => rowOf(moment, place, series, stacked)), [at, series, stacked]);
  const values = valueTicks(greatestOf(data, stacked));
  const moments = momentTicks(at, stepMs);
  const drawn = series.map((each, place) => ({
    name: `s${place}`,
    label: each.label,
    color: each.quiet === true ? "gray.5" : (colours[place % colours.length] ?? "gray.5"),
  }));
  const common = {
    h: height,
    data,
    dataKey: "at",
    series: drawn,
    withLegend: series.length > 1,
    legendProps: { verticalAlign: "bottom" as const },
    valueFormatter: format,
    gridAxis: "x" as const,
    tickLine: "none" as const,
    xAxisProps: {
      tickFormatter: (moment: number) => tickOf(moment, stepMs, at),
      minTickGap: 36,
      ...(moments === undefined ? {} : { ticks: moments }),
    },
    yAxisProps: { width: 56, ticks: values, domain: [0, values.at(-1) ?? 1] },
    tooltipProps: {
      labelFormatter: (moment: unknown) =>
        typeof moment === "number"
          ? pointedWords(moment, { data, stepMs, format: stacked && series.length > 1 ? format : null })
          : "",
    },
  };
  if (kind === "bar")
    return <BarChart {...common} barChartProps={silent} type={stacked ? "stacked" : "default"} maxBarWidth={36} />;
  if (kind === "area") {
    return (
      <AreaChart
        {...common}
        areaChartProps={silent}
        type={stacked ? "stacked" : "default"}
        curveType="linear"
        withDots={false}
        strokeWidth={1.5}
        connectNulls={false}
      />
    );
  }
  return (
    <LineChart
      {...common}
      lineChartProps={silent}
      curveType="linear"
      withDots={series.some(hasLonePoint)}
      dotProps={{ r: 2.5 }}
      strokeWidth={1.75}
      connectNulls={false}
    />
  );
}

type Row = Record<string, number | null>;

/** In a stack, gaps become zero, or the areas above would drop through them. */
function rowOf(moment: number, place: number, series: readonly ChartSeries[], stacked: boolean): Row {
  const row: Row = { at: moment };
  for (const [index, each] of series.entries()) row[`s${index}`] = each.values[place] ?? (stacked ? 0 : null);
  return row;
}

/** The highest drawn value; for stacks, the sum. */
function greatestOf(data: readonly Row[], stacked: boolean): number {
  return Math.max(0, ...data.map((row) => (stacked ? totalOf(row) : Math.max(0, ...valuesOf(row)))));
}

function totalOf(row: Row): number {
  return valuesOf(row).reduce((sum, value) => sum + value, 0);
}

function valuesOf({ at: _, ...values }: Row): number[] {
  return Object.values(values).filter((value) => value !== null);
}

interface PointedAt {
  readonly data: readonly Row[];
  readonly stepMs: number;
  /** Formats the total; null: no total is shown. */
  readonly format: ((value: number) => string) | null;
}

/** The time under the pointer, and the total of its values if `format` is given. */
function pointedWords(moment: number, { data, stepMs, format }: PointedAt): string {
  const row = format === null ? undefined : data.find((each) => each["at"] === moment);
  if (format === null || row === undefined) return formatStep(moment, stepMs);
  return t("components.chart.totalAt", { moment: formatStep(moment, stepMs), total: format(totalOf(row)) });
}

function tickOf(moment: number, stepMs: number, at: readonly number[]): string {
  if (stepMs >= dayMs) return days.format(moment);
  return (showsTime(at, stepMs) ? times : dates).format(moment);
}

const times = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dates = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });
// Days are UTC days: an evening in New York belongs to the next one.
const days = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });

/** A value without neighbors makes no line and is invisible without a dot. */
function hasLonePoint({ values }: ChartSeries): boolean {
  const hasValue = (place: number) => (values[place] ?? null) !== null;
  return values.some((_, place) => hasValue(place) && !hasValue(place - 1) && !hasValue(place + 1));
}
