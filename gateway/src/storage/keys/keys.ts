import type { BodyOf, ConsoleKey } from "@sluice/contract/console";
import { sql } from "kysely";
import type { ApiKey, Secret } from "#core/index.ts";
import type { Connection } from "../database/database.ts";
import type { Row } from "../database/schema.ts";
import {
  budgetOf,
  limitScope,
  limitsOf,
  patternsOf,
  patternsText,
  personScope,
  scopeColumns,
} from "../database/scope-columns.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";

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
  return Object.freeze(keyMembers(row));
}

/** The same key as the secret before its last rotation opens it. */
export function keyByOldSecret(row: CallerKeyRow): ApiKey {
  return Object.freeze({ ...keyMembers(row), secretUntil: row.old_until ?? 0 });
}

/** Enough to recognise a secret by, never enough to guess it: at most a quarter of it and its last four. */
export function recognition(secret: Secret): Pick<KeyRow, "prefix" | "last_four"> {
  const text = secret.reveal();
  return { prefix: text.slice(0, Math.min(prefixMax, Math.floor(text.length / 4))), last_four: text.slice(-4) };
}

/** `sk-sluice-` and four characters that tell keys apart. */
const prefixMax = 14;

function keyMembers(row: CallerKeyRow): ApiKey {
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

/** The fields of a key that the admin API sets, but for its name and its group. `service` is said once, when the key is made. */
type ChangedFields = Omit<BodyOf<"keys.update">, "name" | "group" | "owner"> & Pick<BodyOf<"keys.create">, "service">;

/** What people set of a key, by the names of the admin API. Times are Unix milliseconds. */
type KeyFields = { readonly [Name in keyof ChangedFields]-?: Exclude<ChangedFields[Name], undefined> };

/** A field that is left out does not change. */
export type KeyFieldChange = { readonly [Name in keyof KeyFields]?: KeyFields[Name] | undefined };

/** Each field stands in the column of its name. */
type FieldColumns = Pick<KeyRow, keyof KeyFields>;

interface KeyField<Value, Column> {
  /** Of a key that nothing was said of. */
  readonly absent: Value;
  column(value: Value): Column;
  of(row: KeyRow): Value;
}

/** Each field of a key that people set, to its column and back. Every writer and every view of a key goes by this table. */
const keyFields: { readonly [Name in keyof KeyFields]: KeyField<KeyFields[Name], FieldColumns[Name]> } = {
  models: { absent: null, column: patternsText, of: (row) => listOf(row.models) },
  pass_through: { absent: [], column: JSON.stringify, of: (row) => JSON.parse(row.pass_through) },
  allowed_ips: { absent: null, column: patternsText, of: (row) => listOf(row.allowed_ips) },
  limits: { absent: {}, column: (limits) => scopeColumns(limits, null).limits, of: limitsOf },
  budget: { absent: null, column: (budget) => scopeColumns({}, budget).budget, of: budgetOf },
  tags: { absent: {}, column: JSON.stringify, of: (row) => JSON.parse(row.tags) },
  capture: { absent: "none", column: (capture) => capture, of: (row) => row.capture as KeyFields["capture"] },
  enabled: { absent: true, column: Number, of: (row) => row.enabled === 1 },
  expires_at: { absent: null, column: (expiresAt) => expiresAt, of: (row) => row.expires_at },
  service: { absent: false, column: Number, of: (row) => row.service === 1 },
};

type AnyField = KeyField<unknown, unknown>;
const entries = Object.entries(keyFields) as unknown as readonly (readonly [keyof KeyFields, AnyField])[];

export function fieldsOf(row: KeyRow): KeyFields {
  return Object.fromEntries(entries.map(([name, field]) => [name, field.of(row)])) as unknown as KeyFields;
}

/** Where a field may be null, null is what it is when nothing was said of it. */
type SaidFields = { readonly [Name in keyof KeyFields]?: NonNullable<KeyFields[Name]> };

/** Without the fields that say nothing. */
export function saidFields(row: KeyRow): SaidFields {
  const said = entries.filter(([name, field]) => row[name] !== field.column(field.absent));
  return Object.fromEntries(said.map(([name, field]) => [name, field.of(row)])) as SaidFields;
}

/** The columns of the fields that are given. */
export function changedColumns(change: KeyFieldChange): Partial<FieldColumns> {
  const given = entries.filter(([name]) => change[name] !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [name, field.column(change[name])]));
}

/** The columns of every field, given or not. */
export function newColumns(given: KeyFieldChange): FieldColumns {
  const columns = entries.map(([name, { absent, column }]) => [
    name,
    column(given[name] === undefined ? absent : given[name]),
  ]);
  return Object.fromEntries(columns) as FieldColumns;
}

function listOf(text: string | null): string[] | null {
  return text === null ? null : JSON.parse(text);
}

/** Keys with where they stand, who made them, and when a call of theirs last began: a task has its entry only at its end. */
export function consoleKeys(connection: Connection) {
  return namedKeys(connection)
    .leftJoin("auth_users", "auth_users.id", "api_keys.created_by")
    .leftJoin("auth_users as people", "people.id", "api_keys.person_id")
    .leftJoin("auth_users as owners", "owners.id", "api_keys.owner_id")
    .select(["owners.email as owner_email", "owners.name as owner_name"])
    .select(["people.email as person_email", "people.name as person_name"])
    .select(["auth_users.email as maker_email", "auth_users.name as maker_name"])
    .select((eb) =>
      eb
        .selectFrom("ledger_entries")
        .whereRef("ledger_entries.workspace_id", "=", "api_keys.workspace_id")
        .whereRef("ledger_entries.key_id", "=", "api_keys.id")
        .where("ledger_entries.at", ">=", lastHour)
        .where("ledger_entries.at", "<", sql<number>`${lastHour} + ${sql.lit(hourMs)}`)
        .select("ledger_entries.at")
        .orderBy("ledger_entries.at", "desc")
        .limit(1)
        .as("last_used_at"),
    )
    .select((eb) =>
      eb
        .selectFrom("tasks")
        .whereRef("tasks.workspace_id", "=", "api_keys.workspace_id")
        .whereRef("tasks.key_id", "=", "api_keys.id")
        .select((e) => e.fn.max<number | null>("tasks.created_at").as("at"))
        .as("last_task_at"),
    );
}

/** The last hour in which the key was used, by the sums of the ledger: the key's last entry is in it. */
const lastHour = sql<number>`(select max(hour) from usage_rollups where usage_rollups.key_id = api_keys.id)`;

type ConsoleKeyRow = Row<"api_keys"> & {
  readonly workspace_slug: string;
  readonly group_name: string;
  readonly maker_email: string | null;
  readonly maker_name: string | null;
  readonly owner_email: string | null;
  readonly owner_name: string | null;
  readonly person_email: string | null;
  readonly person_name: string | null;
  readonly last_used_at: number | null;
  readonly last_task_at: number | null;
};

export function consoleKeyOf(row: ConsoleKeyRow, now: number): ConsoleKey {
  return {
    id: row.id,
    name: row.name,
    workspace: { id: row.workspace_id, slug: row.workspace_slug },
    group: { id: row.group_id, name: row.group_name },
    prefix: row.prefix,
    last_four: row.last_four,
    state: keyStateOf(row, now),
    ...fieldsOf(row),
    created_at: row.created_at,
    created_by: somebody(row.created_by, row.maker_email, row.maker_name),
    owner: somebody(row.owner_id, row.owner_email, row.owner_name),
    last_used_at: row.last_task_at === null ? row.last_used_at : Math.max(row.last_used_at ?? 0, row.last_task_at),
    revoked_at: row.revoked_at,
    old_secret_until: row.old_until !== null && row.old_until > now ? row.old_until : null,
    managed_by: row.managed_by,
    set_by_admins: boundsOf(row.set_by_admins),
    ...(row.person_id === null
      ? {}
      : { person: { id: row.person_id, email: row.person_email ?? "", name: row.person_name ?? "" } }),
  };
}

/** Of somebody who was removed only the id is left. */
function somebody(id: string | null, email: string | null, name: string | null): ConsoleKey["created_by"] {
  return id === null ? null : { id, email: email ?? "", name: name ?? "" };
}

/** The first that holds of: revoked, without a secret, disabled, expired. */
function keyStateOf(
  row: Pick<ConsoleKeyRow, "revoked_at" | "digest" | "enabled" | "expires_at">,
  now: number,
): ConsoleKey["state"] {
  if (row.revoked_at !== null) return "revoked";
  if (row.digest === null) return "without_secret";
  if (row.enabled !== 1) return "disabled";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "active";
}
