import type { Migration } from "kysely";

/** What one key has spent is found without reading everybody's hours. */
export function migration012(): Migration {
  return {
    async up(database) {
      await database.schema.createIndex("usage_rollups_key").on("usage_rollups").columns(["key_id", "hour"]).execute();
    },
  };
}
