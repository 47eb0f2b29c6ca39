import type { Migration } from "kysely";

/** The fallback that serves a video task, whose price is paid; null: the model that was asked for. */
export function migration053(): Migration {
  return {
    async up(database) {
      await database.schema.alterTable("tasks").addColumn("served_model", "text").execute();
    },
  };
}
