import type { AuditAction, AuditObject } from "@sluice/contract/words";
import type { Transaction } from "kysely";
import type { ApplyReport, AuditEvent, AuditSource, Clock, ConfigChange } from "#ports/index.ts";
import { type Connection, type Database, lockForWrite } from "../database/database.ts";
import type { NewRow, Tables } from "../database/schema.ts";

interface AuditedWriteOptions {
  readonly database: Database;
  readonly clock: Clock;
}

/** A write under way: its transaction, its moment (Unix milliseconds), and what it has done so far. */
export interface AuditedWrite {
  readonly transaction: Transaction<Tables>;
  readonly log: ChangeLog;
  readonly at: number;
}

/**
 * One write with its audit rows and its change notices, all or nothing. Everything that people or the config file change
 * goes through here. What `write` throws undoes all of it.
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

/** What was done to an object, and how a report says it. */
const pastWords = {
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
} as const satisfies Readonly<Partial<Record<AuditAction, string>>>;

export type Action = keyof typeof pastWords;

/** What an audit row shows of an object. Whoever makes one leaves every secret out. */
export type AuditView = Readonly<Record<string, unknown>> | null;

/** How long replicas can find out about a change; one that slept longer has to be started anew. */
const changeKeepMs = 24 * 3_600_000;
const insertRows = 500;

/**
 * Collects what one transaction does, then writes it beside the effect: audit rows, and the changes that tell every
 * process. One change of the configuration stands for any number; it comes before the keys, which are read in its light.
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

  /** What was done so far. */
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
    this.#report.push({ action, object, text: `${pastWords[action]} ${object}`, before, after });
    this.#add({ action, object, workspaceId, before, after });
  }

  /** The same for what was made (`before` is null), removed (`after` is null) or changed. */
  change(object: AuditObject, before: AuditView, after: AuditView, workspaceId: string | null = null): void {
    this.record(before === null ? "create" : after === null ? "remove" : "update", object, before, after, workspaceId);
  }

  /** What happened outside the stores: a sign-in, a backup. */
  note(event: AuditEvent): void {
    this.#add({ ...event, before: null, after: event.after ?? null });
  }

  configChanged(): void {
    this.#configChanged = true;
  }

  keyChanged(digest: string | null): void {
    if (digest !== null) this.#digests.add(digest);
  }

  /** With nothing recorded it writes nothing. */
  async write(transaction: Connection): Promise<void> {
    const changes: NewRow<"changes">[] = this.#configChanged ? [{ at: this.#at, kind: "config", digest: null }] : [];
    for (const digest of this.#digests) changes.push({ at: this.#at, kind: "key", digest });
    for (let start = 0; start < this.#audit.length; start += insertRows) {
      await transaction
        .insertInto("audit_log")
        .values(this.#audit.slice(start, start + insertRows))
        .execute();
    }
    for (let start = 0; start < changes.length; start += insertRows) {
      await transaction
        .insertInto("changes")
        .values(changes.slice(start, start + insertRows))
        .execute();
    }
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
