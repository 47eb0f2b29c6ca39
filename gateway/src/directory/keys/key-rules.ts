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
  /** Id of the user whose calls the key makes; they must be able to make keys there. null: no one person's. */
  readonly owner?: string | null | undefined;
  /** The fields that only admins may widen. */
  readonly setByAdmins?: readonly string[] | undefined;
};

/**
 * The rules of API keys that need the database. The stores and the config file both ask here. A key in use has its name
 * to itself in its workspace; a revoked one gives its name up. A secret opens one key. A workspace has a bounded number.
 */

/** `before` is the key as it is; null: it is made now. */
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
  // What it has already may be sent back with the rest, though it could not be given now.
  if (expiresAt == null || expiresAt === before?.expires_at) return found;
  const path = ["expires_at"];
  if (expiresAt <= now) found.push({ path, message: "must lie in the future" });
  if (expiresAt > lastMoment) found.push({ path, message: "is later than any date" });
  return found;
}

/** The last moment that a date can say. */
const lastMoment = 8_640_000_000_000_000;

/** The name that a revoked key has from now on, so that a new one can have `row.name`: it says of itself that it is revoked. */
export async function nameOfRevoked(
  connection: Connection,
  row: Pick<KeyRow, "id" | "workspace_id" | "name" | "revoked_at">,
): Promise<string> {
  const day = new Date(row.revoked_at ?? 0).toISOString().slice(0, 10);
  const byDay = `${row.name} (revoked ${day})`;
  const free = (await keyCalled(connection, row.workspace_id, byDay)) === null;
  return free ? byDay : `${row.name} (revoked ${day}, ${row.id})`;
}

export async function keyCalled(connection: Connection, workspaceId: string, name: string): Promise<KeyRow | null> {
  const row = await findRow(connection, "api_keys", { workspace_id: workspaceId, name });
  return row ?? null;
}

/** A key that is to have a secret, and where it was given. */
export interface WantedSecret extends Pick<KeyRow, "id" | "digest"> {
  readonly path: Conflict["path"];
}

/** A secret opens one key: not one of another's, nor one that is open until the grace of a rotation ends. */
export async function secretProblems(
  connection: Connection,
  wanted: readonly WantedSecret[],
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

/** Asked once the new keys stand. */
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

/** A new key of a workspace, without a secret, a person or an owner; bounded in everything by whoever made it. */
export function blankKey(
  { ids, at, owner }: Pick<ControlWrite, "ids" | "at" | "owner">,
  place: Pick<KeyRow, "workspace_id" | "group_id" | "name">,
  fields: KeyFieldChange,
): KeyRow {
  return {
    id: ids.next("key_"),
    ...place,
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

/** API keys as every writer writes them. `slugs`: of the workspace, or of several by id. */
export function keyObject(slugs: string | ReadonlyMap<string, string>): AuditedObject<"api_keys"> {
  return {
    table: "api_keys",
    idColumn: "id",
    label: (row) => `key ${slugIn(slugs, row.workspace_id)}/${row.name}`,
    view: (row: KeyRow) => keyView(row),
    workspaceOf: (row) => row.workspace_id,
    notify: (log, row) => {
      log.keyChanged(row.digest);
      log.keyChanged(row.old_digest);
    },
  };
}

/** What an audit row shows of a key. */
function keyView(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    group_id: row.group_id,
    prefix: row.prefix,
    last_four: row.last_four,
    ...fieldsOf(row),
    // To the nano-USD, as it is counted.
    budget: row.budget === null ? null : JSON.parse(row.budget),
    revoked_at: row.revoked_at,
    old_secret_until: row.old_until,
    managed_by: row.managed_by,
    created_by: row.created_by,
    owner: row.owner_id,
    set_by_admins: boundsOf(row.set_by_admins),
  };
}
