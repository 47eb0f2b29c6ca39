import type { RehearsalResult } from "@sluice/contract/console";
import type { Connection } from "#storage/in-thread.ts";
import type { Unnamed } from "./tally.ts";

type Person = RehearsalResult["people"][number]["person"];

/** Adds the names of people. A deleted one has an id only. */
export async function namedResult(connection: Connection, unnamed: Unnamed): Promise<RehearsalResult> {
  const { people, requests, first, ...others } = unnamed;
  const ids = new Set(people.map(({ personId }) => personId));
  for (const { person } of requests) if (person !== null) ids.add(person.id);
  const rows =
    ids.size === 0
      ? []
      : await connection
          .selectFrom("auth_users")
          .select(["id", "email", "name"])
          .where("id", "in", [...ids])
          .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const personOf = (id: string): Person => byId.get(id) ?? { id, email: "", name: "" };
  const named = requests.map((request) =>
    request.person === null ? request : { ...request, person: personOf(request.person.id) },
  );
  return {
    ...others,
    people: people.map(({ personId, ...figures }) => ({ person: personOf(personId), ...figures })),
    requests: named,
    first: first === null ? null : (named[0] ?? null),
  };
}
