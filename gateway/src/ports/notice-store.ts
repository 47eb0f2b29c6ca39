import type { Notice } from "@sluice/contract/console";
import type { LimitScope } from "#core/index.ts";
import type { AuditSource } from "./audit.ts";

export interface StoredNotice extends Notice {
  readonly workspaceId: string;
  /** What `last` is about, by the id of its limits. null: nothing was told yet, or of a service token. */
  readonly lastScope: { readonly kind: LimitScope["kind"]; readonly id: string } | null;
}

export type NoticeFields = Pick<Notice, "name" | "percent" | "scope" | "scope_id" | "channel" | "enabled">;

/** A budget reached a percentage. `budget` names the budget, `periodStart` (Unix milliseconds) the period. */
export interface Crossing {
  readonly noticeId: string;
  readonly budget: string;
  readonly periodStart: number;
  readonly percent: number;
  readonly label: string;
  readonly usedUsd: number;
  readonly limitUsd: number;
}

/** A crossing that has to be sent, with the number of tries so far. Leased until `leasedUntil` (Unix milliseconds). */
export interface DueNotice extends Crossing {
  readonly leasedUntil: number;
  readonly at: number;
  readonly tries: number;
}

/** Notices about budgets. Each crossing is sent once in its period, by the process that sees it first. */
export interface NoticeStore {
  /** `workspaceId` null: of every workspace. */
  list(workspaceId: string | null): Promise<readonly StoredNotice[]>;
  find(id: string): Promise<StoredNotice | null>;
  create(workspaceId: string, fields: NoticeFields, auditSource: AuditSource): Promise<StoredNotice>;
  update(id: string, fields: Partial<NoticeFields>, auditSource: AuditSource): Promise<StoredNotice | null>;
  remove(id: string, auditSource: AuditSource): Promise<void>;
  /** Stores crossings, due now. Those that are stored already do not change. `silent` ones are never sent. */
  cross(crossings: readonly (Crossing & { readonly silent: boolean })[], now: number): Promise<void>;
  /** Removes what was told of periods that are long over. Gives how many rows that were. */
  prune(beforeMs: number): Promise<number>;
  /** Leases what is due. */
  due(now: number, leaseMs: number, limit: number): Promise<readonly DueNotice[]>;
  /** Stores how a try ended. `dueAt` null: sent, or given up. A failure is written only while the lease is valid. */
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
