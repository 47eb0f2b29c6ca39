import type { BodyOf } from "@sluice/contract/console";
import { budgetOf, limitsOf, patternsText, scopeColumns } from "../database/scope-columns.ts";
import type { KeyRow } from "./key-rows.ts";

/** The columns of a key that no field of people's stands in. */
type OwnColumns =
  | "id"
  | "workspace_id"
  | "group_id"
  | "name"
  | "digest"
  | "prefix"
  | "last_four"
  | "revoked_at"
  | "managed_by"
  | "created_at"
  | "created_by"
  | "set_by_admins"
  | "old_digest"
  | "old_until"
  | "person_id"
  | "owner_id";

/** The fields of a key that the admin API sets, but for its name and its group. `service` is said once, when the key is made. */
type ChangedFields = Omit<BodyOf<"keys.update">, "name" | "group" | "owner"> & Pick<BodyOf<"keys.create">, "service">;

/** What people set of a key, by the names of the admin API. Times are Unix milliseconds. */
export type KeyFields = { readonly [Name in keyof ChangedFields]-?: Exclude<ChangedFields[Name], undefined> };

/** A field that is left out does not change. */
export type KeyFieldChange = { readonly [Name in keyof KeyFields]?: KeyFields[Name] | undefined };

export type FieldColumns = Omit<KeyRow, OwnColumns>;

interface KeyField<Value> {
  /** Of a key that nothing was said of. */
  readonly absent: Value;
  columns(value: Value): Partial<FieldColumns>;
  of(row: KeyRow): Value;
}

/** Each field of a key that people set, to its columns and back. Every writer and every view of a key goes by this table. */
const keyFields: { readonly [Name in keyof KeyFields]: KeyField<KeyFields[Name]> } = {
  models: { absent: null, columns: (models) => ({ models: patternsText(models) }), of: (row) => listOf(row.models) },
  pass_through: {
    absent: [],
    columns: (ids) => ({ pass_through: JSON.stringify(ids) }),
    of: (row) => JSON.parse(row.pass_through),
  },
  allowed_ips: {
    absent: null,
    columns: (ranges) => ({ allowed_ips: patternsText(ranges) }),
    of: (row) => listOf(row.allowed_ips),
  },
  limits: { absent: {}, columns: (limits) => ({ limits: scopeColumns(limits, null).limits }), of: limitsOf },
  budget: { absent: null, columns: (budget) => ({ budget: scopeColumns({}, budget).budget }), of: budgetOf },
  tags: { absent: {}, columns: (tags) => ({ tags: JSON.stringify(tags) }), of: (row) => JSON.parse(row.tags) },
  capture: {
    absent: "none",
    columns: (capture) => ({ capture }),
    of: (row) => row.capture as KeyFields["capture"],
  },
  enabled: { absent: true, columns: (enabled) => ({ enabled: Number(enabled) }), of: (row) => row.enabled === 1 },
  expires_at: { absent: null, columns: (expires_at) => ({ expires_at }), of: (row) => row.expires_at },
  service: { absent: false, columns: (service) => ({ service: Number(service) }), of: (row) => row.service === 1 },
};

const entries = Object.entries(keyFields) as unknown as readonly (readonly [keyof KeyFields, KeyField<unknown>])[];

export function fieldsOf(row: KeyRow): KeyFields {
  return Object.fromEntries(entries.map(([name, field]) => [name, field.of(row)])) as unknown as KeyFields;
}

/** Where a field may be null, null is what it is when nothing was said of it. */
type SaidFields = { readonly [Name in keyof KeyFields]?: NonNullable<KeyFields[Name]> };

/** Without the fields that say nothing. */
export function saidFields(row: KeyRow): SaidFields {
  const said = entries.filter(([, field]) =>
    Object.entries(field.columns(field.absent)).some(([column, value]) => row[column as keyof KeyRow] !== value),
  );
  return Object.fromEntries(said.map(([name, field]) => [name, field.of(row)])) as SaidFields;
}

/** The columns of the fields that are given. */
export function changedColumns(change: KeyFieldChange): Partial<FieldColumns> {
  const changed = entries.map(([name, field]) => (change[name] === undefined ? {} : field.columns(change[name])));
  return Object.assign({}, ...changed);
}

/** The columns of every field, given or not. */
export function newColumns(given: KeyFieldChange): FieldColumns {
  const columns = entries.map(([name, field]) => field.columns(given[name] === undefined ? field.absent : given[name]));
  return Object.assign({}, ...columns);
}

function listOf(text: string | null): string[] | null {
  return text === null ? null : JSON.parse(text);
}
