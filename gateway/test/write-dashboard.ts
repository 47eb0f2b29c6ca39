/**
 * `bun gateway/test/write-dashboard.ts` writes deploy/chart/monitoring/dashboard.json, a Grafana dashboard. Import it and choose
 * the Prometheus that scrapes the gateways; the chart brings it as a ConfigMap.
 */
import { join } from "node:path";
import { failureCauses } from "@sluice/contract/words";

type Unit = "short" | "reqps" | "s" | "percentunit" | "bytes" | "currencyUSD";

interface Line {
  readonly query: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly Line[];
  /** A number instead of a curve. */
  readonly isNumber?: boolean;
}

const range = "$__rate_interval";
/** The selection by the dashboard's variables. */
const chosen = 'namespace=~"$namespace",job=~"$job",instance=~"$instance"';
/** Without requests of proxies and Prometheus. */
const noProbe = 'route!~"metrics|healthz|readyz"';
/** Without errors that are not the provider's: callers' mistakes, and attempts that ended here. */
export const ofProvider = `cause!~"${Object.entries(failureCauses)
  .filter(([, { fault }]) => fault !== "provider")
  .map(([cause]) => cause)
  .join("|")}"`;
const quantile = (share: number, metric: string, by = ""): string =>
  `histogram_quantile(${share}, sum by (le${by}) (rate(${metric}_bucket[${range}])))`;

const rows: Readonly<Record<string, readonly Panel[]>> = {
  "At a glance": [
    number("Requests", "reqps", `sum(rate(sluice_requests_total{${noProbe}}[${range}]))`),
    number(
      "Failed",
      "percentunit",
      `sum(rate(sluice_requests_total{outcome="failed",${noProbe}}[${range}])) / sum(rate(sluice_requests_total{${noProbe}}[${range}]))`,
    ),
    number("Cost, last 24 hours", "currencyUSD", "sum(increase(sluice_cost_usd_total[24h]))"),
    number("Streams open", "short", "sum(sluice_streams_open)"),
    number("Journal to database", "short", "sum(sluice_ledger_lag_entries)"),
    number("Processes", "short", "count(up == 1)"),
  ],
  Calls: [
    curve("Requests by route", "reqps", [
      `sum by (route) (rate(sluice_requests_total{${noProbe}}[${range}]))`,
      "{{route}}",
    ]),
    curve("Failures by status", "reqps", [
      `sum by (status, outcome) (rate(sluice_requests_total{outcome=~"failed|refused",${noProbe}}[${range}]))`,
      "{{status}} {{outcome}}",
    ]),
    curve(
      "First byte",
      "s",
      [quantile(0.5, "sluice_first_byte_seconds"), "p50"],
      [quantile(0.95, "sluice_first_byte_seconds"), "p95"],
      [quantile(0.99, "sluice_first_byte_seconds"), "p99"],
    ),
    curve(
      "The gateway's own part",
      "s",
      [quantile(0.5, "sluice_overhead_seconds"), "p50"],
      [quantile(0.99, "sluice_overhead_seconds"), "p99"],
    ),
  ],
  "Models and providers": [
    curve("Cost per hour by model", "currencyUSD", [
      `topk(10, sum by (model) (rate(sluice_cost_usd_total[${range}])) > 0) * 3600`,
      "{{model}}",
    ]),
    curve("Difference to bills", "percentunit", ["max by (provider) (sluice_bill_difference_ratio)", "{{provider}}"]),
    curve("Tokens per second by class", "short", [`sum by (class) (rate(sluice_tokens_total[${range}]))`, "{{class}}"]),
    curve("Failed attempts by provider", "percentunit", [
      `sum by (provider) (rate(sluice_attempts_total{provider!="none",outcome="failed",${ofProvider}}[${range}])) / sum by (provider) (rate(sluice_attempts_total{provider!="none",${ofProvider}}[${range}]))`,
      "{{provider}}",
    ]),
    curve("Failed attempts by cause", "reqps", [
      `sum by (provider, cause) (rate(sluice_attempts_total{provider!="none",outcome="failed"}[${range}])) > 0`,
      "{{provider}} {{cause}}",
    ]),
    curve("First byte by model, p95", "s", [
      `topk(10, ${quantile(0.95, "sluice_first_byte_seconds", ", model")} > 0)`,
      "{{model}}",
    ]),
    curve("Breakers (2 is open)", "short", [
      "max by (model, provider, deployment) (sluice_breaker_state) > 0",
      "{{model}} at {{provider}}",
    ]),
    curve("Calls of models without a price", "reqps", [
      `sum by (model) (rate(sluice_unpriced_attempts_total[${range}])) > 0`,
      "{{model}}",
    ]),
  ],
  "Limits and budgets": [
    curve("Refused calls by reason", "reqps", [
      `sum by (error) (rate(sluice_attempts_total{provider="none"}[${range}]))`,
      "{{error}}",
    ]),
    curve(
      "Shared counter",
      "s",
      [quantile(0.5, "sluice_redis_round_trip_seconds"), "p50"],
      [quantile(0.99, "sluice_redis_round_trip_seconds"), "p99"],
    ),
    curve("Reservations open", "short", ["sum(sluice_reservations_open)", "reservations"]),
  ],
  "Videos and background responses": [
    curve("Delay of polls", "s", ["max(sluice_tasks_late_seconds)", "late"]),
    curve("Background responses open", "short", ["max(sluice_background_responses_open)", "open"]),
    curve("Age of the oldest", "s", ["max(sluice_background_responses_oldest_seconds)", "oldest"]),
    curve("Batch without progress", "s", ["max(sluice_batches_stalled_seconds)", "stalled"]),
    curve("Open rows of batches", "short", ["max(sluice_batch_rows_open)", "open"]),
    curve(
      "Rows of batches",
      "reqps",
      [`sum(rate(sluice_batch_rows_ended_total[${range}]))`, "ended"],
      [`sum(rate(sluice_batch_rows_failed_total[${range}]))`, "failed"],
    ),
    curve(
      "Messages to callers",
      "reqps",
      [`sum(rate(sluice_task_webhooks_delivered_total[${range}]))`, "delivered"],
      [`sum(rate(sluice_task_webhook_failures_total[${range}]))`, "failed tries"],
    ),
  ],
  Processes: [
    curve("Processor", "short", [`rate(process_cpu_seconds_total[${range}])`, "{{instance}}"]),
    curve("Memory", "bytes", ["process_resident_memory_bytes", "{{instance}}"]),
    curve("Longest delay of the loop", "s", ["sluice_event_loop_delay_seconds", "{{instance}}"]),
    curve("Memory held for callers", "bytes", ["sluice_caller_memory_bytes", "{{instance}} {{kind}}"]),
    curve("Versions", "short", [
      "count by (version, revision, runtime) (sluice_build_info)",
      "{{version}}, {{revision}}, {{runtime}}",
    ]),
  ],
};

function number(title: string, unit: Unit, query: string): Panel {
  return { title, unit, lines: [{ query, legend: "" }], isNumber: true };
}

function curve(title: string, unit: Unit, ...lines: readonly (readonly [query: string, legend: string])[]): Panel {
  return { title, unit, lines: lines.map(([query, legend]) => ({ query, legend })) };
}

const columns = 24;
const datasource = { type: "prometheus", uid: "$datasource" };

/** Rows of panels, from left to right and top to bottom. */
function placed(): readonly object[] {
  const panels: object[] = [];
  let y = 0;
  for (const [title, ofRow] of Object.entries(rows)) {
    panels.push({ type: "row", title, collapsed: false, panels: [], gridPos: { x: 0, y: y++, w: columns, h: 1 } });
    let x = 0;
    for (const panel of ofRow) {
      const [w, h] = panel.isNumber === true ? [4, 4] : [8, 8];
      if (x + w > columns) {
        x = 0;
        y += h;
      }
      panels.push(panelOf(panel, { x, y, w, h }));
      x += w;
    }
    y += ofRow[0]?.isNumber === true ? 4 : 8;
  }
  return panels.map((panel, index) => ({ id: index + 1, ...panel }));
}

/** Restricts every metric selector to the selected variables. */
function ofChosen(query: string): string {
  return query.replaceAll(/\b((?:sluice|process)_\w+|up)\b(\{)?/g, (_, name, labels) =>
    labels === undefined ? `${name}{${chosen}}` : `${name}{${chosen},`,
  );
}

function panelOf({ title, unit, lines, isNumber }: Panel, gridPos: object): object {
  return {
    type: isNumber === true ? "stat" : "timeseries",
    title,
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: lines.map(({ query, legend }, index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      expr: ofChosen(query),
      legendFormat: legend,
      datasource,
    })),
  };
}

/** The values of a label. `All` includes series without it: outside Kubernetes there is no namespace. */
function variable(name: string, label: string, series: string): object {
  const query = `label_values(${series}, ${name})`;
  return {
    ...{ name, label, type: "query", datasource, definition: query, query: { query, refId: name } },
    ...{ refresh: 2, sort: 1, multi: true, includeAll: true, allValue: ".*" },
    current: { selected: true, text: ["All"], value: ["$__all"] },
  };
}

const dashboard = {
  title: "Sluice",
  uid: "sluice",
  tags: ["sluice"],
  schemaVersion: 39,
  editable: true,
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" },
      variable("namespace", "Namespace", "sluice_build_info"),
      variable("job", "Job", 'sluice_build_info{namespace=~"$namespace"}'),
      variable("instance", "Instance", 'sluice_build_info{namespace=~"$namespace",job=~"$job"}'),
    ],
  },
  panels: placed(),
};

export const dashboardFile = join(import.meta.dir, "../../deploy/chart/monitoring/dashboard.json");

export function dashboardText(): string {
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

if (import.meta.main) await Bun.write(dashboardFile, dashboardText());
