import { type AuditedObject, boundsOf, fieldsOf, type KeyRow } from "#storage/tables.ts";

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
