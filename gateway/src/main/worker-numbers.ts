import type { ProcessNumbers } from "#admin/index.ts";
import type { ConfigSnapshot } from "#core/index.ts";
import {
  type MetricReport,
  type Metrics,
  mergeCounts,
  mergeReports,
  metricHelp,
  reportText,
  valueIn,
  type WorkspaceLabels,
} from "#telemetry/index.ts";
import type { Totals, WorkerLink } from "#workers/index.ts";

/** The metrics of this process, or of all workers if there are several and they answer. */
export function numbersOf(metrics: Metrics, link: WorkerLink | null, startedAt: number) {
  link?.reports(() => metrics.report());
  const all = async (): Promise<{ readonly report: MetricReport; readonly startedAt: number }> => {
    const totals = (await link?.totals()) ?? null;
    if (totals === null) return { report: await metrics.report(), startedAt };
    const report = mergeReports(totals.parts as readonly MetricReport[]);
    return { report: [...report, ...workerMetrics(totals)], startedAt: totals.workers.startedAt };
  };
  return {
    /** For /metrics. */
    text: async (): Promise<string> => (link === null ? metrics.text() : reportText((await all()).report)),
    /** For the console. */
    async read(): Promise<ProcessNumbers> {
      const { report, startedAt } = await all();
      const value = (name: string): number => valueIn(report, name) ?? 0;
      return {
        startedAt,
        memoryBytes: value("process_resident_memory_bytes"),
        journalLag: value("sluice_ledger_lag_entries"),
        journalHealthy: value("sluice_ledger_healthy") === 1,
        streamsOpen: value("sluice_streams_open"),
        reservationsOpen: value("sluice_reservations_open"),
      };
    },
  };
}

/** Merges the counters of workers that ended. */
export function foldReports(reports: readonly unknown[]): unknown {
  return mergeCounts(reports as readonly MetricReport[]);
}

function workerMetrics({ workers }: Totals): MetricReport {
  const metric = (name: WorkerMetric, type: "gauge" | "counter", value: number) => ({
    ...{ name, type, help: metricHelp[name] },
    points: [{ labels: {}, value }],
  });
  return [
    metric("sluice_workers", "gauge", workers.ready),
    metric("sluice_workers_desired", "gauge", workers.wanted),
    metric("sluice_workers_lost_total", "counter", workers.lost),
  ];
}

type WorkerMetric = "sluice_workers" | "sluice_workers_desired" | "sluice_workers_lost_total";

/** undefined if metrics by workspace are off. */
export function workspaceLabels(max: number, configSnapshot: () => ConfigSnapshot): WorkspaceLabels | undefined {
  return max === 0 ? undefined : { max, slugOf: (id) => configSnapshot().workspaces.get(id)?.slug ?? null };
}
