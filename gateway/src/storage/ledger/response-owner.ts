import type { ResponseOwner } from "#ports/index.ts";
import type { Database } from "../database/database.ts";

/** The account that keeps the answer with this id of theirs, for a workspace that made it; the newest if there are two. */
export async function findResponseOwner(
  database: Database,
  workspaceId: string,
  upstreamId: string,
): Promise<ResponseOwner | null> {
  const rows = await database.reading
    .selectFrom("ledger_entries")
    .select(["provider", "deployment", "model", "upstream_model", "usage_source"])
    .where("workspace_id", "=", workspaceId)
    .where("upstream_id", "=", upstreamId)
    .orderBy("at", "desc")
    .limit(entriesMax)
    .execute();
  const [newest] = rows;
  if (newest === undefined) return null;
  return {
    provider: newest.provider,
    deployment: newest.deployment,
    model: newest.model,
    upstreamModel: newest.upstream_model,
    paid: rows.some((row) => row.usage_source !== "none"),
  };
}

/** One answer has an entry, one made in the background a second; more are mistakes of an upstream that repeats its ids. */
const entriesMax = 8;
