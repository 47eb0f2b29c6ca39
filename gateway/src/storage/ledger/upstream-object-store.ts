import { bounds } from "#core/index.ts";
import type { UpstreamObjectStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { objectOf, objectWriter, rowOf } from "./upstream-object-rows.ts";

/** Reads and removes what the drain writes with the ledger's entries. */
export function createUpstreamObjectStore(database: Database): UpstreamObjectStore {
  const { kysely, reading, flavour } = database;
  const write = objectWriter(database);
  return {
    async find(workspaceId, ids) {
      const rows = await reading
        .selectFrom("upstream_objects")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .where("id", "in", [...ids])
        .execute();
      return rows.map(objectOf);
    },
    put: (object) => write(kysely, [rowOf(object)]),
    async prune(now) {
      const rows = flavour.name === "sqlite" ? bounds.pruneRows : bounds.pruneRowsPostgres;
      let removed = 0;
      for (;;) {
        const expired = kysely
          .selectFrom("upstream_objects")
          .select(["workspace_id", "id"])
          .where("expires_at", "<", now)
          .orderBy("expires_at")
          .limit(rows);
        const { numDeletedRows } = await kysely
          .deleteFrom("upstream_objects")
          .where((eb) => eb(eb.refTuple("workspace_id", "id"), "in", expired.$asTuple("workspace_id", "id")))
          .executeTakeFirst();
        removed += Number(numDeletedRows);
        if (Number(numDeletedRows) < rows) return removed;
        await Bun.sleep(bounds.prunePauseMs);
      }
    },
  };
}
