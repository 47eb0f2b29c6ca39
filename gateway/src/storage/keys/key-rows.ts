import { sql } from "kysely";
import type { ApiKey, Secret } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import type { Row } from "../database/schema.ts";
import { limitScope, patternsOf, personScope } from "../database/scope-columns.ts";

export type KeyRow = Row<"api_keys">;

/** A key's row with the names of where it stands. */
export type NamedKeyRow = KeyRow & { readonly workspace_slug: string; readonly group_name: string };

export function namedKeys(connection: Connection) {
  return connection
    .selectFrom("api_keys")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .innerJoin("groups", "groups.id", "api_keys.group_id")
    .selectAll("api_keys")
    .select(["workspaces.slug as workspace_slug", "groups.name as group_name"]);
}

/**
 * Keys that may call, with what limits whoever they count for. What is suspended may not. Nothing here is a parameter: it is
 * compiled once.
 */
export function callerKeys(connection: Connection) {
  return namedKeys(connection)
    .where("api_keys.managed_by", "!=", sql.lit("suspended"))
    .where("groups.managed_by", "!=", sql.lit("suspended"))
    .where("workspaces.managed_by", "!=", sql.lit("suspended"))
    .leftJoin("person_limits", (join) =>
      join
        .onRef("person_limits.workspace_id", "=", "api_keys.workspace_id")
        .on((eb) => eb("person_limits.user_id", "=", eb.fn.coalesce("api_keys.person_id", "api_keys.owner_id"))),
    )
    .leftJoin("auth_users as limited", "limited.id", "person_limits.user_id")
    .select(["person_limits.limits as person_limits", "person_limits.budget as person_budget"])
    .select("limited.email as limited_email");
}

export type CallerKeyRow = NamedKeyRow & {
  readonly person_limits: string | null;
  readonly person_budget: string | null;
  readonly limited_email: string | null;
};

/** The bounds of a key that only admins widen, as they are stored: names with a comma between. */
export function boundsText(names: readonly string[]): string {
  return names.join(",");
}

export function boundsOf(text: string): string[] {
  return text.split(",").filter((name) => name !== "");
}

/** What nobody of the console made is bounded by whoever made it, in everything. */
export const everyBound = "enabled,group,models,allowed_ips,expires_at,limits,budget,tags,capture";

export function keyOf(row: CallerKeyRow): ApiKey {
  return Object.freeze(keyFields(row));
}

/** The same key as the secret before its last rotation opens it. */
export function keyByOldSecret(row: CallerKeyRow): ApiKey {
  return Object.freeze({ ...keyFields(row), secretUntil: row.old_until ?? 0 });
}

/** Enough to recognise a secret by, never enough to guess it: at most a quarter of it and its last four. */
export function recognition(secret: Secret): Pick<KeyRow, "prefix" | "last_four"> {
  const text = secret.reveal();
  return { prefix: text.slice(0, Math.min(prefixMax, Math.floor(text.length / 4))), last_four: text.slice(-4) };
}

/** `sk-sluice-` and four characters that tell keys apart. */
const prefixMax = 14;

function keyFields(row: CallerKeyRow): ApiKey {
  const tags: ApiKey["tags"] = JSON.parse(row.tags);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.last_four,
    models: row.models === null ? null : patternsOf(row.models),
    passThrough: patternsOf(row.pass_through),
    allowedIps: row.allowed_ips === null ? null : patternsOf(row.allowed_ips),
    scope: limitScope("key", row.id, `${row.workspace_slug}/${row.name}`, row),
    enabled: row.enabled === 1 && row.revoked_at === null,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    tags: Object.freeze(tags),
    capture: row.capture as ApiKey["capture"],
    ...(row.person_id === null ? {} : { personId: row.person_id }),
    ...(row.owner_id === null ? {} : { ownerId: row.owner_id }),
    ...personScopeOf(row),
  };
}

function personScopeOf(row: CallerKeyRow): Pick<ApiKey, "personScope"> {
  const personId = row.person_id ?? row.owner_id;
  if (personId === null || row.person_limits === null) return {};
  const columns = { limits: row.person_limits, budget: row.person_budget };
  return {
    personScope: personScope(row.workspace_id, personId, `${row.workspace_slug}/${row.limited_email}`, columns),
  };
}
