import type { Connection } from "./database.ts";

/** A setting of the system, which config files cannot name; null: not set. */
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

/** Sets the value if there is none. Returns the stored value. */
export async function firstSystemValue(connection: Connection, name: string, value: string): Promise<string> {
  await connection
    .insertInto("settings")
    .values({ name, value, managed_by: "system" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return (await systemValue(connection, name)) ?? value;
}
