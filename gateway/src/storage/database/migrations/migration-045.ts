import { type Kysely, type Migration, sql } from "kysely";

/** What one person has spent is found without reading everybody's hours. Rows of nobody cost this index nothing. */
export function migration045(): Migration {
  return {
    async up(database: Kysely<unknown>): Promise<void> {
      await sql`
        create index usage_rollups_person on usage_rollups (person_id, hour) where person_id is not null
      `.execute(database);
    },
  };
}
