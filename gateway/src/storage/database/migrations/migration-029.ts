import { type Kysely, type Migration, sql } from "kysely";
import type { Flavour } from "../database.ts";

/** On PostgreSQL a change is told to every process that listens when it is committed. */
export function migration029(flavour: Flavour): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      if (flavour.name === "sqlite") return;
      await sql`
        create function changes_told() returns trigger language plpgsql as $$
        begin
          perform pg_notify('sluice', '* change ');
          return null;
        end $$
      `.execute(database);
      await sql`
        create trigger changes_told after insert on changes for each statement execute function changes_told()
      `.execute(database);
    },
  };
}
