import type { BodyOf, ConsoleKey } from "@sluice/contract/console";
import { type Expression, expressionBuilder, type SqlBool, sql } from "kysely";
import type { ApiKey, Secret } from "#core/index.ts";
import { compiledOnce } from "../database/compiled-once.ts";
import type { Connection } from "../database/database.ts";
import type { Row, Tables } from "../database/schema.ts";
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

/** With the names of its workspace and group. */
export type NamedKeyRow = KeyRow & { readonly workspace_slug: string; readonly group_name: string };

export function namedKeys(connection: Connection) {
  return connection
    .selectFrom("api_keys")
    .innerJoin("workspaces", "workspaces.id", "api_keys.workspace_id")
    .innerJoin("groups", "groups.id", "api_keys.group_id")
    .selectAll("api_keys")
    .select(["workspaces.slug as workspace_slug", "groups.name as group_name"]);
}

/** The keys of a user: `isKeyOf` of the contract as a condition. */
export function keyIsOf(userId: string): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, "api_keys">();
  return eb.or([eb("api_keys.created_by", "=", userId), eb("api_keys.owner_id", "=", userId)]);
}

/** The keys that need a decision before a user can leave. Keys of their agents end with the agents. */
export function keyIsOfLeaver(userId: string): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, "api_keys">();
  return eb.and([
    keyIsOf(userId),
    eb("api_keys.revoked_at", "is", null),
    eb("api_keys.managed_by", "=", "console"),
    eb("api_keys.person_id", "is", null),
  ]);
}

/** The keys that a user may call with: `mayCallWith` of the contract as a condition. */
export function keyIsCallableBy(userId: string, { isAdmin }: { readonly isAdmin: boolean }): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, "api_keys">();
  const shared = eb("api_keys.owner_id", "is", null);
  return eb.and([
    eb("api_keys.person_id", "is", null),
    eb.or([
      eb("api_keys.owner_id", "=", userId),
      isAdmin ? shared : eb.and([shared, eb("api_keys.created_by", "=", userId)]),
    ]),
  ]);
}

/** Active keys with the limits that apply to them. Compiled once, so it has no parameters. */
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

/** Returns a function that reads keys by their ids. Its statement is compiled once. */
export function callerKeyReader(connection: Connection): (ids: readonly string[]) => Promise<readonly ApiKey[]> {
  const places = Array.from({ length: keysAtOnce }, (_, place) => String(place));
  const query = compiledOnce((place: (name: string) => never) =>
    callerKeys(connection).where("api_keys.id", "in", places.map(place)),
  );
  return async (ids) => {
    const keys: ApiKey[] = [];
    for (let from = 0; from < ids.length; from += keysAtOnce) {
      const last = ids.length - 1;
      const values = Object.fromEntries(places.map((place, index) => [place, ids[Math.min(from + index, last)]]));
      const { rows } = await connection.executeQuery(query(values));
      for (const row of rows) keys.push(keyOf(row));
    }
    return keys;
  };
}

const keysAtOnce = 100;

export type CallerKeyRow = NamedKeyRow & {
  readonly person_limits: string | null;
  readonly person_budget: string | null;
  readonly limited_email: string | null;
};

/** Bounds that only admins may widen, stored comma-separated. */
export function boundsText(names: readonly string[]): string {
  return names.join(",");
}

export function boundsOf(text: string): string[] {
  return text.split(",").filter((name) => name !== "");
}

/** Bounds of keys that were not created in the console. */
export const everyBound = "enabled,group,models,allowed_ips,expires_at,limits,budget,tags,capture";

export function keyOf(row: CallerKeyRow): ApiKey {
  return Object.freeze(keyMembers(row));
}

/** The key, authenticated with its secret from before the last rotation. */
export function keyByOldSecret(row: CallerKeyRow): ApiKey {
  return Object.freeze({ ...keyMembers(row), secretUntil: row.old_until ?? 0 });
}

/** Enough of a secret to recognize it, but never to guess it: at most a quarter and the last four characters. */
export function recognition(secret: Secret): Pick<KeyRow, "prefix" | "last_four"> {
  const text = secret.reveal();
  return { prefix: text.slice(0, Math.min(prefixMax, Math.floor(text.length / 4))), last_four: text.slice(-4) };
}

/** `sk-sluice-` and four characters. */
const prefixMax = 14;

function keyMembers(row: CallerKeyRow): ApiKey {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.last_four,
    ...modelGrantOf(row),
    passThrough: patternsOf(row.pass_through),
    ...addressGrantOf(row),
    scope: limitScope("key", row.id, `${row.workspace_slug}/${row.name}`, row),
    enabled: row.enabled === 1 && row.revoked_at === null,
    ...(row.revoked_at === null ? {} : { revoked: true as const }),
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    tags: row.tags === "{}" ? noTags : Object.freeze(JSON.parse(row.tags) as ApiKey["tags"]),
    capture: row.capture as ApiKey["capture"],
    ...(row.person_id === null ? {} : { personId: row.person_id }),
    ...(row.owner_id === null ? {} : { ownerId: row.owner_id }),
    ...personScopeOf(row),
  };
}

const noTags: ApiKey["tags"] = Object.freeze({});

function modelGrantOf({ models, enforce_models }: CallerKeyRow): Pick<ApiKey, "models" | "shadowModels"> {
  if (models === null) return { models };
  const patterns = patternsOf(models);
  return enforce_models === 1 ? { models: patterns } : { models: null, shadowModels: patterns };
}

function addressGrantOf({ allowed_ips, enforce_allowed_ips }: CallerKeyRow): Pick<ApiKey, "allowedIps" | "shadowIps"> {
  if (allowed_ips === null) return { allowedIps: null };
  const ranges = patternsOf(allowed_ips);
  return enforce_allowed_ips === 1 ? { allowedIps: ranges } : { allowedIps: null, shadowIps: ranges };
}

function personScopeOf(row: CallerKeyRow): Pick<ApiKey, "personScope"> {
  const personId = row.person_id ?? row.owner_id;
  if (personId === null || row.person_limits === null) return {};
  const columns = { limits: row.person_limits, budget: row.person_budget };
  return {
    personScope: personScope(row.workspace_id, personId, `${row.workspace_slug}/${row.limited_email}`, columns),
  };
}

/** Fields set through the admin API, except name and group. `service` is set only at creation. */
type ChangedFields = Omit<BodyOf<"keys.update">, "name" | "group" | "owner"> & Pick<BodyOf<"keys.create">, "service">;

/** Named as in the admin API. Times are Unix milliseconds. */
type KeyFields = { readonly [Name in keyof ChangedFields]-?: Exclude<ChangedFields[Name], undefined> };

/** Absent fields do not change. */
export type KeyFieldChange = { readonly [Name in keyof KeyFields]?: KeyFields[Name] | undefined };

/** Columns have the names of the fields. */
type FieldColumns = Pick<KeyRow, keyof KeyFields>;

interface KeyField<Value, Column> {
  /** The default. */
  readonly absent: Value;
  column(value: Value): Column;
  of(row: KeyRow): Value;
}

/** Maps each field to its column and back, for all writers and views of keys. */
const keyFields: { readonly [Name in keyof KeyFields]: KeyField<KeyFields[Name], FieldColumns[Name]> } = {
  models: { absent: null, column: patternsText, of: (row) => listOf(row.models) },
  enforce_models: { absent: true, column: Number, of: (row) => row.enforce_models === 1 },
  pass_through: { absent: [], column: JSON.stringify, of: (row) => JSON.parse(row.pass_through) },
  allowed_ips: { absent: null, column: patternsText, of: (row) => listOf(row.allowed_ips) },
  enforce_allowed_ips: { absent: true, column: Number, of: (row) => row.enforce_allowed_ips === 1 },
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

/** Nullable fields that are null are absent. */
type NonDefaultFields = { readonly [Name in keyof KeyFields]?: NonNullable<KeyFields[Name]> };

/** Without fields that have their default. */
export function nonDefaultFields(row: KeyRow): NonDefaultFields {
  const nonDefault = entries.filter(([name, field]) => row[name] !== field.column(field.absent));
  return Object.fromEntries(nonDefault.map(([name, field]) => [name, field.of(row)])) as NonDefaultFields;
}

/** Columns of the given fields. */
export function changedColumns(change: KeyFieldChange): Partial<FieldColumns> {
  const given = entries.filter(([name]) => change[name] !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [name, field.column(change[name])]));
}

/** Columns of all fields, with defaults. */
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

/** Keys with their workspace, group and creator, and when their latest call began. Tasks have an entry only when they end. */
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

/** The latest hour with usage of the key contains its latest entry. */
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
    created_by: namedPerson(row.created_by, row.maker_email, row.maker_name),
    owner: namedPerson(row.owner_id, row.owner_email, row.owner_name),
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

/** For a deleted person, only the id is known. */
function namedPerson(id: string | null, email: string | null, name: string | null): ConsoleKey["created_by"] {
  return id === null ? null : { id, email: email ?? "", name: name ?? "" };
}

/** The first that applies: revoked, without a secret, disabled, expired. */
export function keyStateOf(
  row: Pick<ConsoleKeyRow, "revoked_at" | "digest" | "enabled" | "expires_at">,
  now: number,
): ConsoleKey["state"] {
  if (row.revoked_at !== null) return "revoked";
  if (row.digest === null) return "without_secret";
  if (row.enabled !== 1) return "disabled";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "active";
}
