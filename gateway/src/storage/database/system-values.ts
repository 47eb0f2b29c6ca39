import type { Connection } from "./database.ts";

/** Rows of `settings` that are the program's own: no setting that a config file could name. null: there is none. */
export async function systemValue(connection: Connection, name: string): Promise<string | null> {
  const row = await connection.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value ?? null;
}

export async function putSystemValue(connection: Connection, name: string, value: string): Promise<void> {
  await connection
    .insertInto("settings")
    .values({ name, value, managed_by: "system" })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

/** The value that stands there from now on: the first that anybody gave. */
export async function firstSystemValue(connection: Connection, name: string, value: string): Promise<string> {
  await connection
    .insertInto("settings")
    .values({ name, value, managed_by: "system" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return (await systemValue(connection, name)) ?? value;
}
