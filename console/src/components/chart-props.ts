export interface ChartSeries {
  readonly id: string;
  readonly label: string;
  /** One for each of `at`; null: nothing there. */
  readonly values: readonly (number | null)[];
  /** Drawn in grey: the rest, the time before. */
  readonly quiet?: boolean;
}

export interface ChartProps {
  readonly kind: "line" | "area" | "bar";
  /** What is shown, for those who hear the page: "Cost per hour by model". */
  readonly label: string;
  /** Unix milliseconds, the beginning of each step. */
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly stepMs: number;
  /** Writes a value with its unit: `formatUsdShort`, `formatDuration` … */
  readonly format?: (value: number) => string;
  /** Areas and bars stand on each other unless said. */
  readonly stacked?: boolean;
  readonly height?: number;
}
