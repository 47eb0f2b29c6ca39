import type { Migration } from "kysely";

/**
 * Who set what bounds a key. Of the keys there are it is not known: what binds them counts as set by an admin, so that
 * nobody takes from a key what was put on it.
 */
export function migration011(): Migration {
  return {
    async up(database) {
      await database.schema
        .alterTable("api_keys")
        .addColumn("set_by_admins", "text", (c) =>
          c.notNull().defaultTo("enabled,group,models,allowed_ips,expires_at,limits,budget,tags,capture"),
        )
        .execute();
    },
  };
}
