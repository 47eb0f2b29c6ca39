import type { ReportInterval, ReportPeriod, WorkspaceRole } from "@sluice/contract/words";
import { bounds, Failure, orNotFound } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import {
  type AuditedObject,
  auditedWrite,
  findRow,
  findRows,
  insertRows,
  type Row,
  removeRows,
  updateDue,
  updateRow,
} from "#storage/tables.ts";
import type { AlertLogOptions } from "../delivery-queue.ts";
import { nextDue, type ReportTimes } from "./due-times.ts";

type ReportHeld = WorkspaceRole | "administrator";

export interface ReportSchedule extends ReportTimes {
  readonly name: string;
  /** Query parameters of the usage page. */
  readonly state: string;
  readonly period: ReportPeriod;
  readonly channels: readonly string[];
  readonly attach_csv: boolean;
  readonly enabled: boolean;
}

export interface StoredReport extends ReportSchedule {
  readonly id: string;
  /** null: all workspaces. */
  readonly workspaceId: string | null;
  readonly ownerId: string;
  /** The owner's role when they last changed it. */
  readonly held: ReportHeld;
  readonly problem: string | null;
  readonly nextAt: number | null;
  readonly createdAt: number;
}

/** A report to make, leased until `leasedUntil`. `tries`: failed attempts so far. */
export interface DueReport extends StoredReport {
  readonly tries: number;
  readonly leasedUntil: number;
}

/** The user who last changed a report. */
export interface ReportOwner {
  readonly ownerId: string;
  readonly held: ReportHeld;
}

export type ScheduledReports = ReturnType<typeof createScheduledReports>;

/** Schedules of reports. Writes are audited. */
export function createScheduledReports(options: AlertLogOptions) {
  const { database, clock, ids } = options;
  const { kysely } = database;
  return {
    /** By name. `ownerId`: only reports of this user. */
    async list(workspaceId: string | null, ownerId: string | null): Promise<readonly StoredReport[]> {
      const rows = await findRows(kysely, "scheduled_reports", { workspace_id: workspaceId }, "name", "id");
      return rows.filter((row) => ownerId === null || row.owner_id === ownerId).map(reportOf);
    },
    async find(id: string): Promise<StoredReport | null> {
      const row = await findRow(kysely, "scheduled_reports", { id });
      return row === undefined ? null : reportOf(row);
    },
    async create(
      workspaceId: string | null,
      owner: ReportOwner,
      schedule: ReportSchedule,
      auditSource: AuditSource,
    ): Promise<StoredReport> {
      return await auditedWrite(options, auditSource, async (context) => {
        const { length } = await findRows(context.transaction, "scheduled_reports", { workspace_id: workspaceId });
        const max = bounds.scheduledReportsMax;
        if (length >= max) throw new Failure("conflict", `A workspace can have at most ${max} scheduled reports.`);
        const place = { id: ids.next("report_"), workspace_id: workspaceId, created_at: clock.now() };
        const row = rowOf(place, owner, schedule, clock.now());
        await insertRows(context, reportObject, [row]);
        return reportOf(row);
      });
    },
    /** The next time is counted from now. */
    async update(
      id: string,
      owner: ReportOwner,
      changes: Partial<ReportSchedule>,
      auditSource: AuditSource,
    ): Promise<StoredReport> {
      return await auditedWrite(options, auditSource, async (context) => {
        const found = await findRow(context.transaction, "scheduled_reports", { id });
        const before = orNotFound(found ?? null, "scheduled report");
        const after = rowOf(before, owner, { ...reportOf(before), ...changes }, clock.now());
        await updateRow(context, reportObject, { before, after });
        return reportOf(after);
      });
    },
    async remove(id: string, auditSource: AuditSource): Promise<void> {
      await auditedWrite(options, auditSource, async (context) => {
        const row = await findRow(context.transaction, "scheduled_reports", { id });
        if (row !== undefined) await removeRows(context, reportObject, [row]);
      });
    },
    /** Reports that are due, oldest first. No other process gets them until their leases end. */
    async leaseDue(leaseMs: number, limit: number): Promise<readonly DueReport[]> {
      const now = clock.now();
      const leasedUntil = now + leaseMs;
      const rows = await updateDue(database, kysely, "scheduled_reports", { now, limit })
        .set({ due_at: leasedUntil })
        .returningAll()
        .execute();
      return rows.map((row) => ({ ...reportOf(row), tries: row.tries, leasedUntil }));
    },
  };
}

type ReportTableRow = Row<"scheduled_reports">;

function rowOf(
  { id, workspace_id, created_at }: Pick<ReportTableRow, "id" | "workspace_id" | "created_at">,
  { ownerId, held }: ReportOwner,
  schedule: ReportSchedule,
  now: number,
): ReportTableRow {
  const { name, state, every, day, hour, time_zone, period, channels, attach_csv, enabled } = schedule;
  const next = enabled ? nextDue(schedule, now) : null;
  return {
    ...{ id, workspace_id, created_at, owner_id: ownerId, held, name, state, every, day, hour, time_zone, period },
    channels: JSON.stringify([...new Set(channels)]),
    attach_csv: attach_csv ? 1 : 0,
    enabled: enabled ? 1 : 0,
    ...{ problem: null, next_at: next, due_at: next, tries: 0 },
  };
}

function reportOf(row: ReportTableRow): StoredReport {
  const { id, name, state, day, hour, time_zone, problem } = row;
  return {
    ...{ id, name, state, day, hour, time_zone, problem },
    workspaceId: row.workspace_id,
    ownerId: row.owner_id,
    held: row.held as ReportHeld,
    every: row.every as ReportInterval,
    period: row.period as ReportPeriod,
    channels: JSON.parse(row.channels) as string[],
    attach_csv: row.attach_csv === 1,
    enabled: row.enabled === 1,
    nextAt: row.next_at,
    createdAt: row.created_at,
  };
}

/** Not cached, so there are no caches to invalidate. */
export const reportObject: AuditedObject<"scheduled_reports"> = {
  table: "scheduled_reports",
  idColumn: "id",
  label: (row) => `scheduled report ${row.name}`,
  view: ({ next_at: _next, due_at: _due, tries: _tries, channels, ...row }) => ({
    ...row,
    channels: JSON.parse(channels),
    attach_csv: row.attach_csv === 1,
    enabled: row.enabled === 1,
  }),
  workspaceOf: (row) => row.workspace_id,
  notify: () => undefined,
};
