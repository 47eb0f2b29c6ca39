import type { ApplyReport, AuditSource } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import type { NewRow } from "../database/schema.ts";

/** What was done to an object, and how a report says it. */
const pastWords = {
  create: "created",
  update: "updated",
  remove: "removed",
  "take-over": "took over",
  release: "released",
  revoke: "revoked",
  rotate: "rotated",
  "set-price": "set price of",
} as const;

export type Action = keyof typeof pastWords;

/** What an audit row shows of an object. Whoever makes one leaves every secret out. */
export type AuditView = Readonly<Record<string, unknown>> | null;

/** How long replicas can find out about a change; one that slept longer has to be started anew. */
const changeKeepMs = 24 * 3_600_000;
const insertRows = 500;

/**
 * Collects what one transaction does, then writes it beside the effect: audit rows, and the changes that tell every
 * process. One catalog change stands for any number; it comes before the keys, which are read in its light.
 */
export class ChangeLog {
  readonly #auditSource: AuditSource;
  readonly #at: number;
  readonly #audit: NewRow<"audit_log">[] = [];
  readonly #digests = new Set<string>();
  readonly #report: string[] = [];
  #catalog = false;

  constructor(auditSource: AuditSource | string, at: number) {
    this.#auditSource = typeof auditSource === "string" ? { actor: auditSource, ip: null } : auditSource;
    this.#at = at;
  }

  record(action: Action, object: string, before: AuditView, after: AuditView, workspaceId: string | null = null): void {
    this.#report.push(`${pastWords[action]} ${object}`);
    this.#audit.push({
      at: this.#at,
      actor: this.#auditSource.actor,
      ip: this.#auditSource.ip,
      workspace_id: workspaceId,
      action,
      object,
      before: before === null ? null : JSON.stringify(before),
      after: after === null ? null : JSON.stringify(after),
    });
  }

  catalogChanged(): void {
    this.#catalog = true;
  }

  keyChanged(digest: string | null): void {
    if (digest !== null) this.#digests.add(digest);
  }

  /** Writes everything and gives the report. With nothing recorded it writes nothing. */
  async write(transaction: Connection): Promise<ApplyReport> {
    const changes: NewRow<"changes">[] = this.#catalog ? [{ at: this.#at, kind: "catalog", digest: null }] : [];
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
    return Object.freeze([...this.#report]);
  }
}
