import type { ApiKey } from "#core/index.ts";
import { callerKeys, contains, keyOf, scopeColumns } from "#storage/tables.ts";
import type { ControlOptions } from "../control-options.ts";

const noLimits = scopeColumns(undefined, null).limits;

/** Selects keys. `search`: a part of the name. */
interface LimitedKeyFilter {
  readonly workspaceId: string | null;
  readonly search?: string;
  readonly keyId?: string;
  /** Whose calls they make. */
  readonly ownerId?: string;
  /** Whose keys alone are given of those that make somebody's calls. */
  readonly seenPerson?: string;
}

/** Keys in use that have a limit or a budget of their own, by name. */
export async function limitedKeys(
  { database }: ControlOptions,
  filter: LimitedKeyFilter,
  limit: number,
): Promise<readonly ApiKey[]> {
  let query = callerKeys(database.kysely)
    .where("api_keys.revoked_at", "is", null)
    .where((eb) => eb.or([eb("api_keys.limits", "!=", noLimits), eb("api_keys.budget", "is not", null)]))
    .orderBy("workspaces.slug")
    .orderBy("api_keys.name")
    .limit(limit);
  if (filter.workspaceId !== null) query = query.where("api_keys.workspace_id", "=", filter.workspaceId);
  if (filter.keyId !== undefined) query = query.where("api_keys.id", "=", filter.keyId);
  const { ownerId, search, seenPerson } = filter;
  if (ownerId !== undefined) {
    query = query.where((eb) => eb.or([eb("api_keys.owner_id", "=", ownerId), eb("api_keys.person_id", "=", ownerId)]));
  }
  if (seenPerson !== undefined) {
    query = query.where((eb) => {
      const whose = eb.fn.coalesce("api_keys.person_id", "api_keys.owner_id");
      return eb.or([eb(whose, "is", null), eb(whose, "=", seenPerson)]);
    });
  }
  if (search !== undefined && search !== "") {
    query = query.where((eb) => contains(eb.ref("api_keys.name"), search));
  }
  return (await query.execute()).map(keyOf);
}

/** A service token whose end is near. `expiresAt`: Unix milliseconds. */
export type EndingToken = Awaited<ReturnType<typeof endingTokens>>[number];

/**
 * Service tokens in use that expire within a time (Unix milliseconds, `until` included), the next first. Those that are disabled let
 * nobody in, so that their end is no news.
 */
export async function endingTokens(
  { database }: ControlOptions,
  workspaceIds: readonly string[],
  after: number,
  until: number,
  limit: number,
) {
  if (workspaceIds.length === 0) return [];
  return await database.kysely
    .selectFrom("api_keys")
    .select(["id as keyId", "workspace_id as workspaceId", "name"])
    .select((eb) => eb.ref("expires_at").$notNull().as("expiresAt"))
    .where("service", "=", 1)
    .where("enabled", "=", 1)
    .where("revoked_at", "is", null)
    .where("workspace_id", "in", [...workspaceIds])
    .where("expires_at", ">", after)
    .where("expires_at", "<=", until)
    .orderBy("expires_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}
