import type { ConsoleUser } from "@sluice/contract/console";
import type { Connection } from "#storage/tables.ts";

type Source = ConsoleUser["sources"][number];

/** The directory and the issuers that keep some users, by user. */
export async function userSources(
  connection: Connection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Source[]>> {
  const found = new Map<string, Source[]>();
  const add = (userId: string, source: Source) => void found.set(userId, [...(found.get(userId) ?? []), source]);
  const directory = await connection
    .selectFrom("scim_users")
    .select(["user_id", "made", "created_at"])
    .where("user_id", "in", [...ids])
    .where("removed_at", "is", null)
    .execute();
  for (const row of directory) {
    add(row.user_id, { source: "scim", made: row.made === 1, since: Number(row.created_at) });
  }
  const issuers = await connection
    .selectFrom("person_claims")
    .select(["user_id", "source", "said_at"])
    .where("user_id", "in", [...ids])
    .where("source", "!=", "scim")
    .orderBy("source")
    .execute();
  for (const row of issuers) add(row.user_id, { source: row.source, made: false, since: Number(row.said_at) });
  return found;
}
