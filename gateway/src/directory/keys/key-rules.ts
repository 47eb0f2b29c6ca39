import type { Conflict } from "@sluice/contract/words";
import { bounds, keyFaults } from "#core/index.ts";
import {
  type AuditedObject,
  boundsOf,
  type Connection,
  everyBound,
  fieldsOf,
  type KeyFieldChange,
  type KeyRow,
  newColumns,
} from "#storage/tables.ts";
import type { Problem } from "../refusals.ts";
import { countRows, findRow, findRows } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { slugIn } from "../workspaces/workspace-rows.ts";

/** A field that is left out does not change. */
export type KeyChange = KeyFieldChange & {
  readonly name?: string | undefined;
  /** Id or name of a group of the key's own workspace. */
  readonly group?: string | undefined;
  /** Id of the user whose limits apply to calls; they must be able to create keys there. null: no user. */
  readonly owner?: string | null | undefined;
  /** Fields that only admins may widen. */
  readonly setByAdmins?: readonly string[] | undefined;
};

/** `before` null: a new key. */
export function keyProblems(
  change: KeyChange,
  { now, before }: { readonly now: number; readonly before: Pick<KeyRow, "expires_at" | "service"> | null },
): readonly Problem[] {
  const { expires_at: expiresAt } = change;
  const found: Problem[] = [
    ...keyFaults({
      ...change,
      service: change.service ?? before?.service === 1,
      expires_at: expiresAt === undefined ? before?.expires_at : expiresAt,
    }),
  ];
  // A form sends the expiry back, even if it has passed meanwhile.
  if (expiresAt == null || expiresAt === before?.expires_at) return found;
  const path = ["expires_at"];
  if (expiresAt <= now) found.push({ path, message: "must be in the future" });
  if (expiresAt > dateMax) found.push({ path, message: `must be at most ${dateMax}` });
  return found;
}

/** The latest time of a `Date`, in Unix milliseconds. */
const dateMax = 8_640_000_000_000_000;

/** A new name for a revoked key, so that a new key can take `row.name`. */
export async function nameOfRevoked(
  connection: Connection,
  row: Pick<KeyRow, "id" | "workspace_id" | "name" | "revoked_at">,
): Promise<string> {
  const day = new Date(row.revoked_at ?? 0).toISOString().slice(0, 10);
  const byDay = `${row.name} (revoked ${day})`;
  const free = (await findKeyByName(connection, row.workspace_id, byDay)) === null;
  return free ? byDay : `${row.name} (revoked ${day}, ${row.id})`;
}

export async function findKeyByName(connection: Connection, workspaceId: string, name: string): Promise<KeyRow | null> {
  const row = await findRow(connection, "api_keys", { workspace_id: workspaceId, name });
  return row ?? null;
}

/** A key with the digest of its secret. `path`: the field with the secret. */
export interface DeclaredSecret extends Pick<KeyRow, "id" | "digest"> {
  readonly path: Conflict["path"];
}

/** A secret belongs to one key, also during the grace period after a rotation. */
export async function secretProblems(
  connection: Connection,
  wanted: readonly DeclaredSecret[],
): Promise<readonly Problem[]> {
  const digests = wanted.flatMap(({ digest }) => digest ?? []);
  const old = await findRows(connection, "api_keys", { old_digest: digests });
  const current = await findRows(connection, "api_keys", { digest: digests });
  const holders = new Map([
    ...old.map((row) => [row.old_digest, row.id] as const),
    ...current.map((row) => [row.digest, row.id] as const),
  ]);
  return wanted.flatMap(({ id, digest, path }) => {
    const holder = digest === null ? undefined : holders.get(digest);
    return holder === undefined || holder === id ? [] : [{ path, message: "another key already has this secret" }];
  });
}

/** Call after inserting the new keys. */
export async function keyCountProblems(connection: Connection, workspaceId: string): Promise<readonly Problem[]> {
  const n = await countRows(
    connection
      .selectFrom("api_keys")
      .where("workspace_id", "=", workspaceId)
      .where("revoked_at", "is", null)
      .where("managed_by", "!=", "suspended"),
  );
  if (n <= bounds.workspaceKeysMax) return [];
  const message = `A workspace has at most ${bounds.workspaceKeysMax} keys in use. Revoke some first.`;
  return [{ path: [], message, code: "conflict" }];
}

/** A new key without a secret, person or owner. Only admins may widen any of its fields. */
export function keyRowDefaults(
  { ids, at, owner }: Pick<ControlWrite, "ids" | "at" | "owner">,
  named: Pick<KeyRow, "workspace_id" | "group_id" | "name">,
  fields: KeyFieldChange,
): KeyRow {
  return {
    id: ids.next("key_"),
    ...named,
    digest: null,
    prefix: "",
    last_four: "",
    ...newColumns(fields),
    revoked_at: null,
    managed_by: owner,
    created_at: at,
    created_by: null,
    set_by_admins: everyBound,
    old_digest: null,
    old_until: null,
    person_id: null,
    owner_id: null,
  };
}

/** `slugs`: the workspace's slug, or the slugs of several workspaces by id. */
export function keyObject(slugs: string | ReadonlyMap<string, string>): AuditedObject<"api_keys"> {
  return {
    table: "api_keys",
    idColumn: "id",
    label: (row) => `key ${slugIn(slugs, row.workspace_id)}/${row.name}`,
    view: keyView,
    workspaceOf: (row) => row.workspace_id,
    notify: (log, row) => {
      log.keyChanged(row.digest);
      log.keyChanged(row.old_digest);
    },
  };
}

function keyView(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    group_id: row.group_id,
    prefix: row.prefix,
    last_four: row.last_four,
    ...fieldsOf(row),
    // In nano-USD, as it is counted.
    budget: row.budget === null ? null : JSON.parse(row.budget),
    revoked_at: row.revoked_at,
    old_secret_until: row.old_until,
    managed_by: row.managed_by,
    created_by: row.created_by,
    owner: row.owner_id,
    set_by_admins: boundsOf(row.set_by_admins),
  };
}
