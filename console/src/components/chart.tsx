import { Skeleton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { formatCount, formatMoment, formatStep } from "../client/format.ts";
import { t } from "../language/areas/components.ts";
import { loadChunk } from "../routes/load-chunk.ts";
import { dayMs } from "./chart-axis.ts";
import { chartColors } from "./chart-colors.ts";
import type { ChartProps } from "./chart-props.ts";

const Drawn = lazy(() => loadChunk(() => import("./chart-drawn.tsx")));

/** Figures over time, also as a table. The chart library loads with the first chart. */
export function Chart(props: ChartProps) {
  const { label, height = 240 } = props;
  const [asTable, setAsTable] = useState(false);
  return (
    <figure className="chart" aria-label={label}>
      {asTable ? (
        <ChartTable {...props} />
      ) : (
        <>
          <div aria-hidden="true" className="chart-drawn" style={{ height }}>
            <Suspense fallback={<Skeleton height={height} />}>
              <Drawn {...props} height={height} />
            </Suspense>
          </div>
          <div className="unseen">
            <ChartTable {...props} />
          </div>
        </>
      )}
      {props.onSelect !== undefined && !asTable && props.series.length > 1 && (
        <Legend {...props} onSelect={props.onSelect} />
      )}
      {props.marks !== undefined && props.marks.length > 0 && (
        <ul className="chart-marks" aria-label={t("components.chart.marks")}>
          {props.marks.map(({ kind, label: words }) => (
            <li key={kind}>
              <span aria-hidden="true" className="chart-mark" data-kind={kind} />
              {words}
            </li>
          ))}
        </ul>
      )}
      {props.stepMs >= dayMs && props.localDays !== true && (
        <span className="chart-days">{t("components.chart.utcDays")}</span>
      )}
      <button type="button" className="chart-switch" onClick={() => setAsTable((before) => !before)}>
        {asTable ? t("components.chart.showAsChart") : t("components.chart.showAsTable")}
      </button>
    </figure>
  );
}

/** The series as buttons. */
function Legend({ series, onSelect }: Pick<ChartProps, "series"> & Required<Pick<ChartProps, "onSelect">>) {
  const colors = chartColors(series);
  return (
    <ul className="chart-legend" aria-label={t("components.chart.legend")}>
      {series.map((each, place) => (
        <li key={each.id}>
          <button type="button" onClick={() => onSelect(each.id)}>
            <span
              aria-hidden="true"
              className="chart-dot"
              style={{ background: `var(--mantine-color-${(colors[place] ?? "gray.5").replace(".", "-")})` }}
            />
            {each.label}
          </button>
        </li>
      ))}
    </ul>
  );
}

function ChartTable({ label, at, series, stepMs, ghost, marks = [], localDays = false, ...props }: ChartProps) {
  const { format = formatCount } = props;
  const shown = [
    ...series,
    ...(ghost === undefined ? [] : [{ id: "\u0000", ...ghost }]),
    ...marks.map(({ kind, value }) => ({
      id: `\u0000${kind}`,
      label: t(`components.chart.${kind}`),
      values: at.map(() => value),
    })),
  ];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="chart-table" tabIndex={0} aria-label={t("components.chart.tableLabel", { label })}>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">{t("components.labels.time")}</th>
            {shown.map((each) => (
              <th key={each.id} scope="col">
                {each.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {at.map((moment, place) => (
            <tr key={moment}>
              <th scope="row">{localDays && stepMs >= dayMs ? formatMoment(moment) : formatStep(moment, stepMs)}</th>
              {shown.map((each) => {
                const value = each.values[place] ?? null;
                return <td key={each.id}>{value === null ? "–" : format(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
