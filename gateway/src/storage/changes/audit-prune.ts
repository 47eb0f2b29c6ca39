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
