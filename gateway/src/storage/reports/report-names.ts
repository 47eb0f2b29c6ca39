import type { Connection } from "../database/database.ts";
import { type NamedPerson, peopleNamed } from "./report-people.ts";

/** The names that stand behind ids. What is gone keeps its id as its name. */
export interface Names {
  workspace(id: string): { readonly id: string; readonly slug: string };
  group(id: string): { readonly id: string; readonly name: string };
  key(id: string): { readonly id: string; readonly name: string };
  person(id: string): NamedPerson;
}

export interface NamedRow {
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
