import { bounds } from "#core/index.ts";
import type { Database } from "../database/database.ts";

/**
 * Removes audit entries of before `beforeMs` from the oldest on, in small batches, until one has none so old: the log is read by its
 * numbers, which rise as time does. Resolves to how many went.
 */
export async function pruneAudit({ kysely, flavour }: Database, beforeMs: number): Promise<number> {
  const size = flavour.name === "sqlite" ? bounds.pruneRows : bounds.pruneRowsPostgres;
  let removed = 0;
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await kysely
      .selectFrom("audit_log")
      .select(["seq", "at"])
      .where("seq", ">", after)
      .orderBy("seq")
      .limit(size)
      .execute();
    const old = rows.filter(({ at }) => at < beforeMs).map(({ seq }) => seq);
    if (old.length > 0) await kysely.deleteFrom("audit_log").where("seq", "in", old).execute();
    removed += old.length;
    const last = rows.at(-1);
    if (last === undefined || old.length === 0) return removed;
    after = last.seq;
    // Others on this thread, and whoever waits to write, come in between.
    await Bun.sleep(bounds.prunePauseMs);
  }
}

/** An entry of the audit log as it leaves for other systems. `at`: Unix milliseconds; `workspace`: its slug, or its id when it is gone. */
export interface TailedAuditEntry {
  readonly seq: number;
  readonly at: number;
  readonly actor: string;
  readonly ip: string | null;
  readonly workspace: string | null;
  readonly action: string;
  readonly object: string;
  /** JSON. */
  readonly before: string | null;
  /** JSON. */
  readonly after: string | null;
}

/**
 * The entries behind `seq` in their order, at most `limit`; of any process. With null: those of `sinceMs` and later. Writers take
 * turns, so none comes later with a smaller number than one that was read.
 */
export async function auditEntriesAfter(
  { reading }: Database,
  from: { readonly seq: number } | { readonly sinceMs: number },
  limit: number,
): Promise<readonly TailedAuditEntry[]> {
  const rows = await reading
    .selectFrom("audit_log")
    .leftJoin("workspaces", "workspaces.id", "audit_log.workspace_id")
    .select([
      "audit_log.seq",
      "audit_log.at",
      "audit_log.actor",
      "audit_log.ip",
      "audit_log.workspace_id",
      "workspaces.slug",
      "audit_log.action",
      "audit_log.object",
      "audit_log.before",
      "audit_log.after",
    ])
    .where((eb) => ("seq" in from ? eb("audit_log.seq", ">", from.seq) : eb("audit_log.at", ">=", from.sinceMs)))
    .orderBy("audit_log.seq")
    .limit(limit)
    .execute();
  return rows.map(({ workspace_id: id, slug, ...row }) => ({ ...row, workspace: slug ?? id }));
}
