import { type Migration, sql } from "kysely";

/** The days in which a key changed hands: reports by person find those few without a look through all days of their time. */
export function migration046(): Migration {
  return {
    async up(database) {
      await database.schema
        .createIndex("usage_days_several_people")
        .on("usage_days")
        .column("hour")
        .where(sql.ref("person_id"), "=", sql.lit("*"))
        .execute();
    },
  };
}
