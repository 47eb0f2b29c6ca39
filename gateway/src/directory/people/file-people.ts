import { type Connection, putSystemValue, systemValue } from "#storage/tables.ts";
import { managedByFile } from "../refusals.ts";

export interface PeopleIds {
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly oidc: readonly string[];
}

/** Ids of people and accounts that the config file declares now, and of those it declared before (`suspended`). */
export interface FilePeople extends PeopleIds {
  readonly suspended: PeopleIds;
  /** Keys that were disabled because the file no longer declares their owner, or the owner's membership. */
  readonly disabledKeys: readonly DisabledKey[];
}

export interface DisabledKey {
  readonly id: string;
  readonly userId: string;
  /** Restored when the key is enabled again. */
  readonly setByAdmins: string;
}

const rowName = "config-file.people";
const noIds: PeopleIds = { users: [], tokens: [], oidc: [] };
const noPeople: FilePeople = { ...noIds, suspended: noIds, disabledKeys: [] };

export async function readFilePeople(connection: Connection): Promise<FilePeople> {
  const value = await systemValue(connection, rowName);
  return value === null ? noPeople : { ...noPeople, ...(JSON.parse(value) as PeopleIds) };
}

/**
 * Call before a change that does not come from the file. Throws `managed_by_file` for an object that the file declares. A suspended
 * object stops belonging to the file, which no longer resumes it. `label` names the object: `user ada@example.com`.
 */
export async function releaseFromFile(
  connection: Connection,
  kind: keyof PeopleIds,
  id: string,
  label: string,
): Promise<void> {
  const people = await readFilePeople(connection);
  if (people[kind].includes(id)) throw managedByFile(label);
  if (!people.suspended[kind].includes(id)) return;
  const suspended = { ...people.suspended, [kind]: people.suspended[kind].filter((each) => each !== id) };
  const disabledKeys = people.disabledKeys.filter(({ userId }) => kind !== "users" || userId !== id);
  await writeFilePeople(connection, { ...people, suspended, disabledKeys });
}

export async function writeFilePeople(connection: Connection, people: FilePeople): Promise<void> {
  await putSystemValue(connection, rowName, JSON.stringify(people));
}

/** Throws `managed_by_file` for an object that the file declares. */
export async function refuseFilePeople(
  connection: Connection,
  kind: keyof PeopleIds,
  id: string,
  label: string,
): Promise<void> {
  if ((await readFilePeople(connection))[kind].includes(id)) throw managedByFile(label);
}
