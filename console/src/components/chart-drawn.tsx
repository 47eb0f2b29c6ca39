import "@mantine/charts/styles.css";
import { AreaChart, BarChart, CompositeChart, type CompositeChartProps, LineChart } from "@mantine/charts";
import { ColorSwatch, Paper } from "@mantine/core";
import { useMemo } from "react";
import { formatCompact, formatShare, formatStep } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { locale } from "../language/chosen.ts";
import { dayMs, momentTicks, showsTime, valueTicks } from "./chart-axis.ts";
import { chartColors } from "./chart-colors.ts";
import type { ChartProps, ChartSeries } from "./chart-props.ts";

/** A mark that is this many times higher than every value is not drawn. */
const markHeightMax = 4;

/** The names are at opposite ends, so that they do not overlap. */
const markStyles = {
  budget: {
    label: t("components.chart.budget"),
    labelPosition: "insideBottomLeft",
    color: "var(--warn)",
    strokeWidth: 1.5,
  },
  forecast: {
    label: t("components.chart.forecast"),
    labelPosition: "insideBottomRight",
    color: "var(--mantine-color-dimmed)",
    strokeDasharray: "2 3",
  },
} as const;

/** Hidden from screen readers, which get a table instead, so nothing in it may be focusable. */
const silent = { accessibilityLayer: false };

/** The part of `Chart` that draws, in a separate chunk. */
export default function ChartDrawn(props: ChartProps & { readonly height: number }) {
  const { kind, at, series, stepMs, format = formatCompact, stacked = kind !== "line", height } = props;
  const { ghost, marks = [], onSelect, localDays = false } = props;
  // Series are keyed by index: Recharts would read a name such as gpt-4.1 as a path into the data.
  const data = useMemo(() => at.map((moment, place) => rowOf(moment, place, series, stacked)), [at, series, stacked]);
  const withGhost = useMemo(
    () => (ghost === undefined ? data : data.map((row, place) => ({ ...row, ghost: ghost.values[place] ?? null }))),
    [data, ghost],
  );
  const highestValue = Math.max(greatestOf(data, stacked), ...(ghost?.values ?? []).map((each) => each ?? 0));
  const drawnMarks = marks.filter(({ value }) => value <= highestValue * markHeightMax);
  const highest = Math.max(highestValue, ...drawnMarks.map(({ value }) => value));
  const lowest = stacked
    ? 0
    : Math.min(0, ...data.flatMap(valuesOf), ...(ghost?.values ?? []).map((each) => each ?? 0));
  const values = valueTicks(highest, lowest);
  const moments = momentTicks(at, stepMs);
  const colors = chartColors(series);
  const drawn = series.map((each, place) => ({
    name: `s${place}`,
    label: each.label,
    color: colors[place] ?? "gray.5",
    ...(each.dashed === true ? { strokeDasharray: "5 4" } : {}),
  }));
  const common = {
    referenceLines: drawnMarks.map(({ kind, value }) => ({ y: value, ...markStyles[kind] })),
    h: height,
    data: withGhost,
    dataKey: "at",
    series: drawn,
    withLegend: series.length > 1 && onSelect === undefined,
    legendProps: { verticalAlign: "bottom" as const },
    valueFormatter: format,
    gridAxis: "x" as const,
    tickLine: "none" as const,
    xAxisProps: {
      tickFormatter: (moment: number) => tickOf(moment, { stepMs, at, localDays }),
      minTickGap: 36,
      ...(moments === undefined ? {} : { ticks: moments }),
    },
    yAxisProps: { width: 64, ticks: values, domain: [values[0] ?? 0, values.at(-1) ?? 1] },
    tooltipProps: {
      content: ({ label }: { readonly label?: unknown }) => (
        <Tip
          moment={Number(label)}
          {...{ series, colors, at, stepMs, format, ghost, localDays }}
          total={stacked && series.length > 1}
        />
      ),
    },
  };
  const select = (name: string) => onSelect?.(series[Number(name.slice(1))]?.id ?? "");
  const clickable = ({ name }: { readonly name: string }) =>
    onSelect === undefined ? {} : { onClick: () => select(name), cursor: "pointer" };
  if (ghost !== undefined && kind === "bar") {
    return (
      <BarsWithGhost {...common} composedChartProps={silent} ghost={ghost.label} stacked={stacked} onBar={clickable} />
    );
  }
  if (kind === "bar")
    return (
      <BarChart
        {...common}
        barChartProps={silent}
        type={stacked ? "stacked" : "default"}
        maxBarWidth={36}
        barProps={clickable}
      />
    );
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

interface BarsWithGhostProps extends CompositeChartProps {
  readonly ghost: string;
  readonly stacked: boolean;
  readonly onBar: (series: { readonly name: string }) => object;
}

/** Bars, and the compared period as a dashed line. */
function BarsWithGhost({ ghost, stacked, onBar, series, ...common }: Omit<BarsWithGhostProps, "series"> & BarSeries) {
  return (
    <CompositeChart
      {...common}
      series={[
        ...series.map((each) => ({ ...each, type: "bar" as const })),
        { name: "ghost", label: ghost, color: "gray.6", type: "line" as const },
      ]}
      barProps={(each) => ({ ...onBar(each), ...(stacked ? { stackId: "all" } : {}) })}
      lineProps={{ strokeDasharray: "5 4" }}
      curveType="linear"
      withDots={false}
      strokeWidth={1.5}
      maxBarWidth={36}
    />
  );
}

interface BarSeries {
  readonly series: readonly { readonly name: string; readonly label: string; readonly color: string }[];
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

/** Values that are shown under the pointer. */
const shownMax = 12;

interface TipProps extends Pick<ChartProps, "series" | "at" | "stepMs"> {
  readonly ghost: ChartProps["ghost"];
  readonly moment: number;
  readonly colors: readonly string[];
  readonly format: (value: number) => string;
  readonly localDays: boolean;
  readonly total: boolean;
}

/** The values under the pointer, highest first and without zeros, with their total and the compared period. */
function Tip({ moment, series, colors, at, stepMs, format, ghost, localDays, total }: TipProps) {
  const place = at.indexOf(moment);
  if (place < 0) return null;
  const rows = series
    .map((each, n) => ({ label: each.label, value: each.values[place] ?? null, color: colors[n] ?? "gray.5" }))
    .filter((row): row is typeof row & { readonly value: number } => row.value !== null && row.value !== 0)
    .toSorted((a, b) => b.value - a.value);
  const sum = rows.reduce((all, { value }) => all + value, 0);
  const before = ghost?.values[place] ?? null;
  return (
    <Paper withBorder shadow="md" className="chart-tip">
      <div className="chart-tip-title">{stepWords(moment, stepMs, localDays)}</div>
      {rows.slice(0, shownMax).map(({ label, value, color }) => (
        <div key={label} className="chart-tip-row">
          <ColorSwatch size={10} color={`var(--mantine-color-${color.replace(".", "-")})`} withShadow={false} />
          <span className="grow">{label}</span>
          <span className="tabular">{format(value)}</span>
        </div>
      ))}
      {rows.length > shownMax && <div className="chart-tip-row">{`+ ${rows.length - shownMax}`}</div>}
      {total && (
        <div className="chart-tip-row chart-tip-total">
          <span className="grow">{t("components.chart.total")}</span>
          <span className="tabular">{format(sum)}</span>
        </div>
      )}
      {ghost !== undefined && before !== null && (
        <div className="chart-tip-row">
          <span className="grow">{ghost.label}</span>
          <span className="tabular">
            {format(before)}
            {total && before > 0 && ` (${sum >= before ? "+" : "−"}${formatShare(Math.abs(sum / before - 1))})`}
          </span>
        </div>
      )}
    </Paper>
  );
}

function stepWords(moment: number, stepMs: number, localDays: boolean): string {
  return localDays && stepMs >= dayMs ? localDates.format(moment) : formatStep(moment, stepMs);
}

interface Ticks extends Pick<ChartProps, "at" | "stepMs"> {
  readonly localDays: boolean;
}

function tickOf(moment: number, { stepMs, at, localDays }: Ticks): string {
  if (stepMs >= dayMs) return (localDays ? dates : days).format(moment);
  return (showsTime(at, stepMs) ? times : dates).format(moment);
}

const localDates = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const times = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dates = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });
// Days are UTC days: an evening in New York belongs to the next one.
const days = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });

/** A value without neighbors makes no line and is invisible without a dot. */
function hasLonePoint({ values }: ChartSeries): boolean {
  const hasValue = (place: number) => (values[place] ?? null) !== null;
  return values.some((_, place) => hasValue(place) && !hasValue(place - 1) && !hasValue(place + 1));
}
