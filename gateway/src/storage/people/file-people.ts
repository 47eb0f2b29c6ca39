import { Failure } from "#core/index.ts";
import type { Connection } from "../database/database.ts";

/** What the config file owns of those who govern the installation, by id. */
export interface FilePeople {
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly oidc: readonly string[];
}

/** A row of the system: no setting that a config file could name. */
const rowName = "config-file.people";
const none: FilePeople = { users: [], tokens: [], oidc: [] };

export async function readFilePeople(connection: Connection): Promise<FilePeople> {
  const row = await connection.selectFrom("settings").select("value").where("name", "=", rowName).executeTakeFirst();
  return row === undefined ? none : (JSON.parse(row.value) as FilePeople);
}

export async function writeFilePeople(connection: Connection, people: FilePeople): Promise<void> {
  const value = JSON.stringify(people);
  await connection
    .insertInto("settings")
    .values({ name: rowName, value, managed_by: "system" })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

/** Throws managed_by_file for what the config file owns. `what` is the object as a person would name it. */
export async function refuseFilePeople(
  connection: Connection,
  kind: keyof FilePeople,
  id: string,
  what: string,
): Promise<void> {
  if (!(await readFilePeople(connection))[kind].includes(id)) return;
  throw new Failure("managed_by_file", `The ${what} comes from the config file. Change it there.`);
}
