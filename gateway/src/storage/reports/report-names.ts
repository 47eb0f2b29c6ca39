import type { Connection } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";

/** The names that stand behind ids. What is gone keeps its id as its name. */
export interface Names {
  workspace(id: string): { readonly id: string; readonly slug: string };
  group(id: string): { readonly id: string; readonly name: string };
  key(id: string): { readonly id: string; readonly name: string };
  person(id: string): NamedPerson;
}

interface NamedRow {
  readonly workspace_id: string;
  readonly group_id: string;
  readonly key_id: string;
  readonly person_id: string | null;
}

export async function namesOf(connection: Connection, rows: readonly NamedRow[]): Promise<Names> {
  const ids = (column: Exclude<keyof NamedRow, "person_id">) => [...new Set(rows.map((row) => row[column]))];
  const workspaces = await connection
    .selectFrom("workspaces")
    .select(["id", "slug as name"])
    .where("id", "in", ids("workspace_id"))
    .execute();
  const groups = await connection
    .selectFrom("groups")
    .select(["id", "name"])
    .where("id", "in", ids("group_id"))
    .execute();
  const keys = await connection
    .selectFrom("api_keys")
    .select(["id", "name"])
    .where("id", "in", ids("key_id"))
    .execute();
  const [workspaceNames, groupNames, keyNames] = [workspaces, groups, keys].map(
    (named) => new Map(named.map(({ id, name }) => [id, name])),
  );
  const people = await peopleNamed(
    connection,
    rows.flatMap((row) => row.person_id ?? []),
  );
  const person = new Map(people.map((each) => [each.id, each]));
  return {
    workspace: (id) => ({ id, slug: workspaceNames?.get(id) ?? id }),
    group: (id) => ({ id, name: groupNames?.get(id) ?? id }),
    key: (id) => ({ id, name: keyNames?.get(id) ?? id }),
    person: (id) => person.get(id) ?? { id, email: id, name: "" },
  };
}

interface NamedPerson {
  readonly id: string;
  /** Of somebody who was removed: as the key of their sign-ins is called; without one, their id. */
  readonly email: string;
  readonly name: string;
}

/** The people behind ids. Whoever was removed is told all the same: the ledger outlives them. */
export async function peopleNamed(connection: Connection, ids: Iterable<string>): Promise<readonly NamedPerson[]> {
  const wanted = [...new Set(ids)].filter((id) => id !== "");
  const known = new Map<string, NamedPerson>();
  for (const chunk of chunksOf(wanted)) {
    const there = await connection
      .selectFrom("auth_users")
      .select(["id", "email", "name"])
      .where("id", "in", [...chunk])
      .execute();
    for (const person of there) known.set(person.id, person);
    const gone = chunk.filter((id) => !known.has(id));
    if (gone.length === 0) continue;
    const keys = await connection
      .selectFrom("api_keys")
      .select(["person_id as id", "name"])
      .where("person_id", "in", gone)
      .orderBy("created_at")
      .execute();
    for (const { id, name } of keys) if (id !== null) known.set(id, { id, email: name, name: "" });
  }
  return wanted.map((id) => known.get(id) ?? { id, email: id, name: "" });
}
