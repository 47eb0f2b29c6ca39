import "@mantine/charts/styles.css";
import { AreaChart, BarChart, LineChart } from "@mantine/charts";
import { useMemo } from "react";
import { formatCompact, formatMoment } from "../client/format.ts";
import { locale } from "../language/chosen.ts";
import type { ChartProps, ChartSeries } from "./chart-props.ts";

/** Told apart by lightness too, and clear on both grounds. The accent comes first. */
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
const dayMs = 86_400_000;
/** The drawing is hidden from those who hear the page, who get a table instead: nothing in it may take the focus. */
const silent = { accessibilityLayer: false };

/** The drawing half of `Chart`, in a chunk of its own. */
export default function ChartDrawn(props: ChartProps & { readonly height: number }) {
  const { kind, at, series, stepMs, format = formatCompact, stacked = kind !== "line", height } = props;
  // Series are known by their place: a name such as gpt-4.1 would be taken for a path into the data.
  const data = useMemo(() => at.map((moment, place) => rowOf(moment, place, series, stacked)), [at, series, stacked]);
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
    xAxisProps: { tickFormatter: (moment: number) => tickOf(moment, stepMs, at), minTickGap: 36 },
    yAxisProps: { width: 56 },
    tooltipProps: { labelFormatter: (moment: unknown) => (typeof moment === "number" ? formatMoment(moment) : "") },
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

/** In a stack nothing is zero, or what stands on it would fall through the gap. */
function rowOf(
  moment: number,
  place: number,
  series: readonly ChartSeries[],
  stacked: boolean,
): Record<string, number | null> {
  const row: Record<string, number | null> = { at: moment };
  for (const [index, each] of series.entries()) row[`s${index}`] = each.values[place] ?? (stacked ? 0 : null);
  return row;
}

/** The time of day while one day is shown, its date otherwise. */
function tickOf(moment: number, stepMs: number, at: readonly number[]): string {
  const span = (at.at(-1) ?? moment) - (at[0] ?? moment);
  const withTime = stepMs < dayMs && span <= 2 * dayMs;
  const options: Intl.DateTimeFormatOptions = withTime
    ? { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }
    : { month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(locale, options).format(moment);
}

/** A value with nothing on either side is no line: without a dot it would not be seen. */
function hasLonePoint({ values }: ChartSeries): boolean {
  const known = (place: number) => (values[place] ?? null) !== null;
  return values.some((_, place) => known(place) && !known(place - 1) && !known(place + 1));
}
