import { bounds } from "#core/index.ts";
import type { Database } from "../database/database.ts";

/**
 * Removes audit entries from before `beforeMs` in small batches, oldest first, reading by sequence number. Resolves to the number
 * removed.
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
    // Give others on this thread, and waiting writers, a turn.
    await Bun.sleep(bounds.prunePauseMs);
  }
}

/** An audit entry for export. `at`: Unix milliseconds. `workspace`: its slug, or its id if it was deleted. */
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

/** Entries after `seq`, or since `sinceMs`, in order. Writers take turns, so entries never appear later with a smaller number. */
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
