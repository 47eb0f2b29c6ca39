import { bounds, LastingFault } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { AlertSettings, StoredChannel } from "../alert-settings.ts";
import { lastDue, nextDue } from "./due-times.ts";
import type { ReportReading, StopReason } from "./report-content.ts";
import type { FinishedRun, ReportRuns } from "./report-runs.ts";
import type { DueReport, ScheduledReports, StoredReport } from "./scheduled-reports.ts";

/** Reads the data of a report with the rights that its owner has now. Rejects if a later attempt may succeed. */
export type ReadReport = (report: StoredReport, dueAt: number) => Promise<ReportReading>;

export interface ReportWatchOptions {
  readonly reports: Pick<ScheduledReports, "leaseDue">;
  readonly runs: ReportRuns;
  readonly settings: Pick<AlertSettings, "channels">;
  readonly readReport: ReadReport;
  readonly clock: Clock;
  readonly observer: Observer;
}

/**
 * Makes the reports that are due, and queues their messages. After a downtime only the latest time of a schedule counts. Every process
 * does this: a lease on the schedule decides which one makes a report.
 */
export class ReportWatch {
  readonly #options: ReportWatchOptions;
  readonly #fault: LastingFault;
  #isStopped = false;
  #cancel = (): void => {};
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ReportWatchOptions) {
    this.#options = options;
    const { clock, observer } = options;
    const [fault, over] = ["failed to make scheduled reports; retrying", "scheduled reports are made again"];
    this.#fault = new LastingFault({ clock, observer, level: "warn", fault, over });
  }

  start(): void {
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  /** Makes every report that is due. */
  async check(): Promise<void> {
    const { reports, runs, settings } = this.#options;
    const due = await reports.leaseDue(bounds.reportLeaseMs, bounds.reportsAtOnceMax);
    if (due.length > 0) {
      const channels = await settings.channels();
      for (const report of due) {
        // The lease of the rest ends, and another process continues.
        if (this.#isStopped) return;
        await this.#make(report, channels);
      }
    }
    await runs.dropSentFiles();
  }

  async #make(report: DueReport, channels: readonly StoredChannel[]): Promise<void> {
    const { runs, clock, observer, readReport } = this.#options;
    const now = clock.now();
    const dueAt = lastDue(report, now);
    const own = channelsOf(report, channels);
    let outcome: FinishedRun["outcome"];
    try {
      outcome = own.length === 0 ? { problem: "report_no_channel" } : await readReport(report, dueAt);
    } catch (error) {
      observer.log("warn", "failed to make a scheduled report", { report: report.id, tries: report.tries + 1, error });
      if (report.tries + 1 < bounds.reportTriesMax) {
        await runs.postpone(report, now + 60_000 * 2 ** report.tries);
        return;
      }
      outcome = { problem: "report_failed" satisfies StopReason };
    }
    const deliveries = "problem" in outcome ? [] : own.map((channel) => ({ channel, dueAt: now, quiet: false }));
    await runs.finish(report, { dueAt, nextAt: nextDue(report, now), outcome, deliveries });
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.clock.after(bounds.alertCheckMs, () => {
      this.#running = this.check()
        .then(
          () => this.#fault.succeeded(),
          (thrown: unknown) => this.#fault.failed({ error: thrown }),
        )
        .then(() => this.#schedule());
    });
  }
}

/** The channels that a report can be sent to now. */
export function channelsOf(
  { workspaceId, channels: ids }: Pick<StoredReport, "workspaceId" | "channels">,
  channels: readonly StoredChannel[],
): readonly StoredChannel[] {
  return channels.filter((channel) => {
    return channel.enabled && isReportChannel(channel, workspaceId) && ids.includes(channel.id);
  });
}

/** PagerDuty is only for incidents. */
export function isReportChannel(channel: StoredChannel, workspaceId: string | null): boolean {
  return channel.workspaceId === workspaceId && channel.kind !== "pagerduty";
}
