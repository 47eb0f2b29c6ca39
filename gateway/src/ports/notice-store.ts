import type { Notice } from "@sluice/contract/console";
import type { AuditSource } from "./people-store.ts";

export interface StoredNotice extends Notice {
  readonly workspaceId: string;
}

export type NoticeFields = Pick<Notice, "name" | "percent" | "scope" | "scope_id" | "channel" | "enabled">;

/** A budget that reached a share. `budget` names it, `periodStart` (Unix milliseconds) the period in which it did. */
export interface Crossing {
  readonly noticeId: string;
  readonly budget: string;
  readonly periodStart: number;
  readonly percent: number;
  readonly label: string;
  readonly usedUsd: number;
  readonly limitUsd: number;
}

/** A crossing that is to be told, with how often that was tried. It is leased until `leasedUntil` (Unix milliseconds). */
export interface DueNotice extends Crossing {
  readonly leasedUntil: number;
  readonly at: number;
  readonly tries: number;
}

/** Notices on budgets. Each crossing is told once in its period, whichever process sees it first. */
export interface NoticeStore {
  /** `workspaceId` null: of every workspace. */
  list(workspaceId: string | null): Promise<readonly StoredNotice[]>;
  find(id: string): Promise<StoredNotice | null>;
  create(workspaceId: string, fields: NoticeFields, auditSource: AuditSource): Promise<StoredNotice>;
  update(id: string, fields: Partial<NoticeFields>, auditSource: AuditSource): Promise<StoredNotice | null>;
  remove(id: string, auditSource: AuditSource): Promise<void>;
  /** Writes down what was crossed, due now; what was written before stays as it is. `silent` ones are never sent. */
  cross(crossings: readonly (Crossing & { readonly silent: boolean })[], now: number): Promise<void>;
  /** Leases what is due. */
  due(now: number, leaseMs: number, limit: number): Promise<readonly DueNotice[]>;
  /** How a try ended; `dueAt` null: sent, or given up. A failure is written only while the lease holds. */
  tried(
    leased: Pick<DueNotice, "noticeId" | "budget" | "periodStart" | "percent" | "leasedUntil">,
    result: {
      readonly tries: number;
      readonly dueAt: number | null;
      readonly sentAt: number | null;
      readonly problem: string | null;
    },
  ): Promise<void>;
}
