import type { AuditedObject } from "../changes/audited-rows.ts";
import { type KeyRow, keyView } from "./key-rows.ts";

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
