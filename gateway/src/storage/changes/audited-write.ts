import type { AuditAction, AuditObject } from "@sluice/contract/words";
import type { Transaction } from "kysely";
import type { ApplyReport, AuditEvent, AuditSource, Clock, ConfigChange } from "#ports/index.ts";
import { type Connection, type Database, lockForWrite } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";
import type { NewRow, Tables } from "../database/schema.ts";

interface AuditedWriteOptions {
  readonly database: Database;
  readonly clock: Clock;
}

/** A write in progress. `at`: Unix milliseconds. */
export interface AuditedWrite {
  readonly transaction: Transaction<Tables>;
  readonly log: ChangeLog;
  readonly at: number;
}

/**
 * Runs a write with its audit rows and change notices in one transaction. Everything that people or the config file change goes through
 * here.
 */
export async function auditedWrite<Options extends AuditedWriteOptions, Result>(
  options: Options,
  auditSource: AuditSource,
  write: (under: Options & AuditedWrite) => Promise<Result>,
): Promise<Result> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    await lockForWrite(options.database, transaction);
    const at = options.clock.now();
    const log = new ChangeLog(auditSource, at);
    const result = await write({ ...options, transaction, log, at });
    await log.write(transaction);
    return result;
  });
}

/** Audit actions, and their words in reports. */
const pastTense = {
  create: "created",
  update: "updated",
  remove: "removed",
  "take-over": "took over",
  release: "released",
  suspend: "suspended",
  resume: "resumed",
  revoke: "revoked",
  rotate: "rotated",
  "set-price": "set price of",
  approve: "approved",
  decline: "declined",
  withdraw: "withdrew",
  collect: "collected",
} as const satisfies Readonly<Partial<Record<AuditAction, string>>>;

export type Action = keyof typeof pastTense;

/** An object in an audit row, without secrets. */
export type AuditView = Readonly<Record<string, unknown>> | null;

/** How long changes are kept. A process that was suspended for longer must be restarted. */
const changeKeepMs = 24 * 3_600_000;

/**
 * Collects audit rows and change notices of one transaction. Any number of configuration changes become one notice, which precedes those
 * of keys because these depend on the configuration.
 */
export class ChangeLog {
  readonly #auditSource: AuditSource;
  readonly #at: number;
  readonly #audit: NewRow<"audit_log">[] = [];
  readonly #digests = new Set<string>();
  readonly #report: ConfigChange[] = [];
  #configChanged = false;

  constructor(auditSource: AuditSource, at: number) {
    this.#auditSource = auditSource;
    this.#at = at;
  }

  get actor(): string {
    return this.#auditSource.actor;
  }

  get report(): ApplyReport {
    return Object.freeze([...this.#report]);
  }

  record(
    action: Action,
    object: AuditObject,
    before: AuditView,
    after: AuditView,
    workspaceId: string | null = null,
  ): void {
    this.#report.push({ action, object, text: `${pastTense[action]} ${object}`, before, after });
    this.#add({ action, object, workspaceId, before, after });
  }

  /** Records a creation (`before` null), removal (`after` null) or update. */
  change(object: AuditObject, before: AuditView, after: AuditView, workspaceId: string | null = null): void {
    this.record(before === null ? "create" : after === null ? "remove" : "update", object, before, after, workspaceId);
  }

  /** Records an event without a change of rows: a sign-in, a backup. */
  note(event: AuditEvent): void {
    this.#add({ ...event, before: null, after: event.after ?? null });
  }

  configChanged(): void {
    this.#configChanged = true;
  }

  keyChanged(digest: string | null): void {
    if (digest !== null) this.#digests.add(digest);
  }

  async write(transaction: Connection): Promise<void> {
    const changes: NewRow<"changes">[] = this.#configChanged ? [{ at: this.#at, kind: "config", digest: null }] : [];
    for (const digest of this.#digests) changes.push({ at: this.#at, kind: "key", digest });
    for (const rows of chunksOf(this.#audit))
      await transaction
        .insertInto("audit_log")
        .values([...rows])
        .execute();
    for (const rows of chunksOf(changes))
      await transaction
        .insertInto("changes")
        .values([...rows])
        .execute();
    if (changes.length > 0) {
      await transaction
        .deleteFrom("changes")
        .where("at", "<", this.#at - changeKeepMs)
        .execute();
    }
  }

  #add(row: Omit<AuditEvent, "after"> & { readonly before: unknown; readonly after: unknown }): void {
    this.#audit.push({
      at: this.#at,
      actor: this.#auditSource.actor,
      ip: this.#auditSource.ip,
      workspace_id: row.workspaceId,
      action: row.action,
      object: row.object,
      before: row.before === null ? null : JSON.stringify(row.before),
      after: row.after === null ? null : JSON.stringify(row.after),
    });
  }
}
