import { sql } from "kysely";
import type { LedgerEntry } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";

/** Names by id. Deleted objects have their id as name. */
export interface Names {
  workspace(id: string): { readonly id: string; readonly slug: string };
  group(id: string): { readonly id: string; readonly name: string };
  key(id: string): { readonly id: string; readonly name: string };
  person(id: string): NamedPerson;
}

type Owned = Pick<LedgerEntry, "workspaceId" | "groupId" | "keyId" | "personId" | "actorId">;

export async function namesOf(connection: Connection, entries: readonly Owned[]): Promise<Names> {
  const named = (table: NamedTable, member: "workspaceId" | "groupId" | "keyId") =>
    namesIn(
      connection,
      table,
      entries.map((entry) => entry[member]),
    );
  const workspaces = await named("workspaces", "workspaceId");
  const groups = await named("groups", "groupId");
  const keys = await named("api_keys", "keyId");
  const ids = entries.flatMap(({ personId, actorId }) => [personId ?? [], actorId ?? []].flat());
  const people = new Map((await peopleNamed(connection, ids)).map((each) => [each.id, each]));
  return {
    workspace: (id) => ({ id, slug: workspaces.get(id) ?? id }),
    group: (id) => ({ id, name: groups.get(id) ?? id }),
    key: (id) => ({ id, name: keys.get(id) ?? id }),
    person: (id) => people.get(id) ?? { id, email: id, name: "" },
  };
}

type NamedTable = "workspaces" | "groups" | "api_keys";

/** Slugs of workspaces. */
export async function namesIn(
  connection: Connection,
  table: NamedTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const name = table === "workspaces" ? "slug" : "name";
  const rows = await connection
    .selectFrom(table)
    .select(["id", sql<string>`${sql.ref(name)}`.as("name")])
    .where("id", "in", [...new Set(ids)])
    .execute();
  return new Map(rows.map((row) => [row.id, row.name]));
}

interface NamedPerson {
  readonly id: string;
  /** Deleted people have the name of their sign-in key, or their id. */
  readonly email: string;
  readonly name: string;
}

/** People by id, including deleted ones. */
export async function peopleNamed(connection: Connection, ids: Iterable<string>): Promise<readonly NamedPerson[]> {
  const wanted = [...new Set(ids)].filter((id) => id !== "");
  const people = new Map<string, NamedPerson>();
  for (const chunk of chunksOf(wanted)) {
    const there = await connection
      .selectFrom("auth_users")
      .select(["id", "email", "name"])
      .where("id", "in", [...chunk])
      .execute();
    for (const person of there) people.set(person.id, person);
    const gone = chunk.filter((id) => !people.has(id));
    if (gone.length === 0) continue;
    const keys = await connection
      .selectFrom("api_keys")
      .select(["person_id as id", "name"])
      .where("person_id", "in", gone)
      .orderBy("created_at")
      .execute();
    for (const { id, name } of keys) if (id !== null) people.set(id, { id, email: name, name: "" });
  }
  return wanted.map((id) => people.get(id) ?? { id, email: id, name: "" });
}
