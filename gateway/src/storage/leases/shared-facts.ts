import type { SharedFacts } from "#ports/index.ts";
import type { Database } from "../database/database.ts";

/** As settings of the system: neither the config file nor the console shows or changes them. */
export function createSharedFacts({ kysely }: Database): SharedFacts {
  return {
    async read(name) {
      const row = await kysely
        .selectFrom("settings")
        .select("value")
        .where("name", "=", name)
        .where("managed_by", "=", "system")
        .executeTakeFirst();
      return row?.value ?? null;
    },
    async write(name, value) {
      await kysely
        .insertInto("settings")
        .values({ name, value, managed_by: "system" })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value, managed_by: "system" }))
        .execute();
    },
  };
}
