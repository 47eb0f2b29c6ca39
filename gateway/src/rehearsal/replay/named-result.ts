import type { RehearsalResult } from "@sluice/contract/console";
import type { Connection } from "#storage/in-thread.ts";
import type { UnnamedGuardrail } from "./guardrail-tally.ts";
import type { Unnamed } from "./tally.ts";

type Person = RehearsalResult["people"][number]["person"];

/** Adds the names of people. A deleted one has an id only. */
export async function namedResult(
  connection: Connection,
  unnamed: Unnamed & { readonly guardrails: readonly UnnamedGuardrail[]; readonly allowed: number },
): Promise<RehearsalResult> {
  const { people, requests, guardrails, first, ...others } = unnamed;
  const ids = new Set([...people, ...guardrails.flatMap((each) => each.people)].map(({ personId }) => personId));
  const listed = [...requests, ...guardrails.flatMap((each) => each.requests)];
  for (const { person } of listed) if (person !== null) ids.add(person.id);
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
  const withPerson = <Listed extends { readonly person: Person | null }>(request: Listed): Listed =>
    request.person === null ? request : { ...request, person: personOf(request.person.id) };
  const named = requests.map(withPerson);
  return {
    ...others,
    people: people.map(({ personId, ...figures }) => ({ person: personOf(personId), ...figures })),
    requests: named,
    guardrails: guardrails.map((each) => ({
      ...each,
      people: each.people.map(({ personId, requests: count }) => ({ person: personOf(personId), requests: count })),
      requests: each.requests.map(withPerson),
    })),
    first: first === null ? null : (named[0] ?? null),
  };
}
