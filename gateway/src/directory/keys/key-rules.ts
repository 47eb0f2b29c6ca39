import { bounds, Failure, type FieldFault, keyFaults } from "#core/index.ts";
import {
  type AuditedObject,
  boundsOf,
  type Connection,
  chunksOf,
  fieldsOf,
  type KeyFieldChange,
  type KeyRow,
} from "#storage/tables.ts";

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

/** Throws `invalid_request` for the first fault. `before` is the key as it is; null: it is made now. */
export function checkKeyFields(
  change: KeyChange,
  { now, before }: { readonly now: number; readonly before: Pick<KeyRow, "expires_at" | "service"> | null },
): void {
  const { expires_at: expiresAt } = change;
  const [fault] = keyFaults({
    ...change,
    service: change.service ?? before?.service === 1,
    expires_at: expiresAt === undefined ? before?.expires_at : expiresAt,
  });
  if (fault !== undefined) throw faultFailure(fault);
  // What it has already may be sent back with the rest, though it could not be given now.
  if (expiresAt == null || expiresAt === before?.expires_at) return;
  if (expiresAt <= now) throw faultFailure({ path: ["expires_at"], message: "must lie in the future" });
  if (expiresAt > lastMoment) throw faultFailure({ path: ["expires_at"], message: "is later than any date" });
}

/** The last moment that a date can say. */
const lastMoment = 8_640_000_000_000_000;

function faultFailure({ path, message }: FieldFault): Failure {
  const param = path.join(".");
  return new Failure("invalid_request", `\`${param}\` ${message}.`, { param });
}

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
  const row = await connection
    .selectFrom("api_keys")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row ?? null;
}

/** Who has one of these secrets now, also one that is open until the grace of a rotation ends: key ids by digest. */
export async function secretHolders(
  connection: Connection,
  digests: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const holders = new Map<string, string>();
  for (const chunk of chunksOf(digests)) {
    const rows = await connection
      .selectFrom("api_keys")
      .select(["id", "digest", "old_digest"])
      .where((eb) => eb.or([eb("digest", "in", [...chunk]), eb("old_digest", "in", [...chunk])]))
      .execute();
    for (const { id, digest, old_digest } of rows) {
      if (old_digest !== null) holders.set(old_digest, id);
      if (digest !== null) holders.set(digest, id);
    }
  }
  return holders;
}

export async function refuseTakenSecret(connection: Connection, digest: string): Promise<void> {
  const holders = await secretHolders(connection, [digest]);
  if (!holders.has(digest)) return;
  throw new Failure("invalid_request", "Another key already has this secret.", { param: "secret" });
}

/** Asked once the new keys stand. */
export async function refuseTooManyKeys(connection: Connection, workspaceId: string): Promise<void> {
  const message = await tooManyKeys(connection, workspaceId);
  if (message !== null) throw new Failure("conflict", message);
}

export async function tooManyKeys(connection: Connection, workspaceId: string): Promise<string | null> {
  const { n } = await connection
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .where("workspace_id", "=", workspaceId)
    .where("revoked_at", "is", null)
    .where("managed_by", "!=", "suspended")
    .executeTakeFirstOrThrow();
  if (Number(n) <= bounds.workspaceKeysMax) return null;
  return `A workspace has at most ${bounds.workspaceKeysMax} keys in use. Revoke some first.`;
}

/** API keys as every writer writes them. `slugs`: of the workspaces that the keys stand in, by id. */
export function keyObject(slugs: ReadonlyMap<string, string>): AuditedObject<"api_keys"> {
  return {
    table: "api_keys",
    idColumn: "id",
    label: (row) => `key ${slugs.get(row.workspace_id) ?? row.workspace_id}/${row.name}`,
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
