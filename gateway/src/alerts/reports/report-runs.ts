import type { ReportRun } from "@sluice/contract/console";
import { storedRemark } from "@sluice/contract/words";
import { sql } from "kysely";
import { auditedWrite, type Connection, findRow, isLeasedUntil, type Row, updateRow } from "#storage/tables.ts";
import { type AlertLogOptions, deliveryOf, insertRunDeliveries, type NewDelivery } from "../delivery-queue.ts";
import {
  type ReportContent,
  type ReportReading,
  type StoppedContent,
  type StopReason,
  stopSentence,
} from "./report-content.ts";
import { type DueReport, reportObject, type StoredReport } from "./scheduled-reports.ts";

/** Runs of a report that are kept. */
const runsMax = 30;

/** A run to send. */
export interface StoredRun {
  readonly reportId: string;
  readonly reportName: string;
  readonly workspaceId: string | null;
  readonly at: number;
  readonly content: ReportContent | StoppedContent;
  readonly csv: string | null;
}

/** A scheduled run, with the report or the reason why there is none. */
export interface FinishedRun {
  /** Time of the schedule. */
  readonly dueAt: number;
  readonly nextAt: number;
  readonly outcome: ReportReading | { readonly problem: StopReason };
  readonly deliveries: readonly NewDelivery[];
}

export type ReportRuns = ReturnType<typeof createReportRuns>;

/** Runs of scheduled reports. A run, its messages and the next time of the schedule are written in one transaction, while its lease is valid. */
export function createReportRuns(options: AlertLogOptions) {
  const { database, clock, ids } = options;
  const { kysely } = database;

  const insertRun = async (
    transaction: Connection,
    report: Pick<StoredReport, "id">,
    { dueAt, outcome, manual }: Pick<FinishedRun, "dueAt" | "outcome"> & { readonly manual: boolean },
    deliveries: readonly NewDelivery[],
  ): Promise<string | null> => {
    const run = await transaction
      .insertInto("report_runs")
      .values({
        ...{ id: ids.next("run_"), report_id: report.id, at: clock.now(), due_at: dueAt, manual: manual ? 1 : 0 },
        ...storedOutcome(outcome),
      })
      .onConflict((conflict) => conflict.columns(["report_id", "due_at"]).where(sql<boolean>`manual = 0`).doNothing())
      .returning("id")
      .executeTakeFirst();
    if (run === undefined) return null;
    await insertRunDeliveries(transaction, { ids, clock }, run.id, deliveries);
    await transaction
      .deleteFrom("report_runs")
      .where("report_id", "=", report.id)
      .where("id", "not in", (eb) =>
        eb
          .selectFrom("report_runs")
          .select("id")
          .where("report_id", "=", report.id)
          .orderBy("id", "desc")
          .limit(runsMax),
      )
      .execute();
    return run.id;
  };

  const runsOf = async (rows: readonly Row<"report_runs">[]): Promise<readonly ReportRun[]> => {
    if (rows.length === 0) return [];
    const deliveries = await kysely
      .selectFrom("alert_deliveries")
      .selectAll()
      .where(
        "run_id",
        "in",
        rows.map(({ id }) => id),
      )
      .orderBy("id")
      .execute();
    return rows.map((row) => {
      const content = row.content === null ? null : (JSON.parse(row.content) as ReportContent | StoppedContent);
      return {
        ...{ id: row.id, at: row.at, due_at: row.due_at, trigger: row.manual === 1 ? "manual" : "schedule" },
        period: content === null || "stopped" in content ? null : content.period,
        problem: row.problem,
        fault: storedRemark("alert", row.problem),
        deliveries: deliveries.filter(({ run_id }) => run_id === row.id).map(deliveryOf),
      };
    });
  };

  return {
    /** Does nothing if the lease has ended or the report was changed. */
    async finish(report: DueReport, run: FinishedRun): Promise<void> {
      await auditedWrite(options, { actor: "scheduled reports", ip: null }, async (context) => {
        const { transaction } = context;
        const stops = "stop" in run.outcome;
        const nextAt = stops ? null : run.nextAt;
        const updated = await transaction
          .updateTable("scheduled_reports")
          .set({ next_at: nextAt, due_at: nextAt, tries: 0 })
          .where("id", "=", report.id)
          .where(isLeasedUntil(report.leasedUntil))
          .returning("id")
          .executeTakeFirst();
        if (updated === undefined) return;
        await insertRun(transaction, report, { ...run, manual: false }, run.deliveries);
        const before = stops ? await findRow(transaction, "scheduled_reports", { id: report.id }) : undefined;
        if (before === undefined) return;
        const { problem } = storedOutcome(run.outcome);
        await updateRow(context, reportObject, { before, after: { ...before, enabled: 0, problem } });
      });
    },
    /** Another attempt at this time of the schedule. */
    async postpone({ id, leasedUntil, tries }: DueReport, dueAt: number): Promise<void> {
      await kysely
        .updateTable("scheduled_reports")
        .set({ due_at: dueAt, tries: tries + 1 })
        .where("id", "=", id)
        .where(isLeasedUntil(leasedUntil))
        .execute();
    },
    /** A run that a user started. */
    async addManual(
      report: StoredReport,
      run: Pick<FinishedRun, "dueAt" | "outcome" | "deliveries">,
    ): Promise<ReportRun | null> {
      const id = await kysely
        .transaction()
        .execute((transaction) => insertRun(transaction, report, { ...run, manual: true }, run.deliveries));
      const row = id === null ? undefined : await findRow(kysely, "report_runs", { id });
      return row === undefined ? null : ((await runsOf([row]))[0] ?? null);
    },
    /** Newest first. */
    async list(reportId: string): Promise<readonly ReportRun[]> {
      const rows = await kysely
        .selectFrom("report_runs")
        .selectAll()
        .where("report_id", "=", reportId)
        .orderBy("id", "desc")
        .limit(runsMax)
        .execute();
      return await runsOf(rows);
    },
    /** The last run of each report of a place. */
    async last(reportIds: readonly string[]): Promise<ReadonlyMap<string, ReportRun>> {
      if (reportIds.length === 0) return new Map();
      const rows = await kysely
        .selectFrom("report_runs")
        .selectAll()
        .where("id", "in", (eb) =>
          eb
            .selectFrom("report_runs")
            .select((inner) => inner.fn.max("id").as("id"))
            .where("report_id", "in", [...reportIds])
            .groupBy("report_id"),
        )
        .execute();
      const runs = await runsOf(rows);
      return new Map(rows.map((row, place) => [row.report_id, runs[place] as ReportRun]));
    },
    /** null: the run was deleted, or has nothing to send. */
    async find(id: string): Promise<StoredRun | null> {
      const row = await kysely
        .selectFrom("report_runs")
        .innerJoin("scheduled_reports", "scheduled_reports.id", "report_runs.report_id")
        .selectAll("report_runs")
        .select(["scheduled_reports.name", "scheduled_reports.workspace_id"])
        .where("report_runs.id", "=", id)
        .executeTakeFirst();
      if (row === undefined || row.content === null) return null;
      const content = JSON.parse(row.content) as ReportContent | StoppedContent;
      const { report_id: reportId, name: reportName, workspace_id: workspaceId, at, csv } = row;
      return { reportId, reportName, workspaceId, at, content, csv };
    },
    /** Deletes attachments of runs without messages to send. */
    async dropSentFiles(): Promise<void> {
      await kysely
        .updateTable("report_runs")
        .set({ csv: null })
        .where("csv", "is not", null)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("alert_deliveries")
                .select("alert_deliveries.id")
                .whereRef("run_id", "=", "report_runs.id")
                .where("due_at", "is not", null),
            ),
          ),
        )
        .execute();
    },
  };
}

function storedOutcome(outcome: FinishedRun["outcome"]): Pick<Row<"report_runs">, "content" | "csv" | "problem"> {
  if ("content" in outcome) return { content: JSON.stringify(outcome.content), csv: outcome.csv, problem: null };
  if ("problem" in outcome) return { content: null, csv: null, problem: stopSentence(outcome.problem) };
  const stopped: StoppedContent = { stopped: outcome.stop };
  return { content: JSON.stringify(stopped), csv: null, problem: stopSentence(outcome.stop) };
}
