import type { Migration } from "kysely";

/** What a deployment of a video model takes, where the file says so: JSON. */
export function migration004(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("deployments").addColumn("capabilities", "text").execute();
    },
  };
}
