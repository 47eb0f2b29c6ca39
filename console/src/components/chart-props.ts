export interface ChartSeries {
  readonly id: string;
  readonly label: string;
  /** One for each of `at`; null: no data. */
  readonly values: readonly (number | null)[];
  /** Drawn in gray: the rest, the previous period. */
  readonly quiet?: boolean;
  /** For lines: a forecast. */
  readonly dashed?: boolean;
}

/** A horizontal line through the whole chart. */
export interface ChartMark {
  readonly kind: "budget" | "forecast";
  /** "Budget: $10 a day ($300 a month)". The line itself has a shorter name. */
  readonly label: string;
  /** The value of each step. */
  readonly value: number;
}

export interface ChartProps {
  readonly kind: "line" | "area" | "bar";
  /** The chart's name for screen readers: "Cost per hour by model". */
  readonly label: string;
  /** Start of each step in Unix milliseconds. */
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly stepMs: number;
  /** Writes a value with its unit: `formatUsdShort`, `formatDuration` … */
  readonly format?: (value: number) => string;
  /** Areas and bars are stacked by default. */
  readonly stacked?: boolean;
  readonly height?: number;
  /** The total of the compared period at each step, drawn as a dashed line. */
  readonly ghost?: { readonly label: string; readonly values: readonly (number | null)[] };
  /** Listed below the chart. Lines so far above the values that the series would look flat are not drawn. */
  readonly marks?: readonly ChartMark[];
  /** Makes the series of the legend buttons. Called with the series' id. */
  readonly onSelect?: (id: string) => void;
  /** Days begin at midnight of the browser's time zone, not of UTC. */
  readonly localDays?: boolean;
}
