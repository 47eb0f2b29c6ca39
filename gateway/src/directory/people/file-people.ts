import { Failure } from "#core/index.ts";
import { type Connection, putSystemValue, systemValue } from "#storage/tables.ts";

/** Ids of those who govern the installation. */
export interface PeopleIds {
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  readonly oidc: readonly string[];
}

/** What the config file owns of those who govern the installation, and what it declared once. */
export interface FilePeople extends PeopleIds {
  readonly suspended: PeopleIds;
  /** Keys that were disabled because the file no longer declared their owner, or the owner's membership. */
  readonly disabledKeys: readonly DisabledKey[];
}

export interface DisabledKey {
  readonly id: string;
  readonly userId: string;
  /** What the key had. */
  readonly setByAdmins: string;
}

const rowName = "config-file.people";
const nobody: PeopleIds = { users: [], tokens: [], oidc: [] };
const none: FilePeople = { ...nobody, suspended: nobody, disabledKeys: [] };

export async function readFilePeople(connection: Connection): Promise<FilePeople> {
  const value = await systemValue(connection, rowName);
  return value === null ? none : { ...none, ...(JSON.parse(value) as PeopleIds) };
}

export async function suspendedPeople(connection: Connection): Promise<PeopleIds> {
  return (await readFilePeople(connection)).suspended;
}

/** Whoever changes or removes what was suspended decides about it: the file does not resume it as it was. */
export async function forgetSuspended(connection: Connection, kind: keyof PeopleIds, id: string): Promise<void> {
  const people = await readFilePeople(connection);
  if (!people.suspended[kind].includes(id)) return;
  const suspended = { ...people.suspended, [kind]: people.suspended[kind].filter((each) => each !== id) };
  const disabledKeys = people.disabledKeys.filter(({ userId }) => kind !== "users" || userId !== id);
  await writeFilePeople(connection, { ...people, suspended, disabledKeys });
}

export async function writeFilePeople(connection: Connection, people: FilePeople): Promise<void> {
  await putSystemValue(connection, rowName, JSON.stringify(people));
}

/** Throws managed_by_file for what the config file owns. `what` is the object as a person would name it. */
export async function refuseFilePeople(
  connection: Connection,
  kind: keyof PeopleIds,
  id: string,
  what: string,
): Promise<void> {
  if (!(await readFilePeople(connection))[kind].includes(id)) return;
  throw new Failure("managed_by_file", `The ${what} comes from the config file. Change it there.`);
}
