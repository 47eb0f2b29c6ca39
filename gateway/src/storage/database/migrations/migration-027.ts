import type { Kysely, Migration } from "kysely";
import type { Flavour } from "../database.ts";

/** PostgreSQL: what one workspace or group has spent is found without reading everybody's hours, as that of a key is. */
export function migration027({ name }: Flavour): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      if (name === "sqlite") return;
      for (const scope of ["workspace", "group"]) {
        await database.schema
          .createIndex(`usage_rollups_${scope}`)
          .on("usage_rollups")
          .columns([`${scope}_id`, "hour"])
          .execute();
      }
    },
  };
}
