import type { Database } from "../database/database.ts";

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
