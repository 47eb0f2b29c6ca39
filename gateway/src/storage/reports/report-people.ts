import type { Connection } from "../database/database.ts";
import { chunksOf } from "../database/reconcile.ts";

export interface NamedPerson {
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
