import {
  type AuditedObject,
  insertRows,
  type ManagedBy,
  type Row,
  reconcile,
  suspendRows,
  updateRow,
} from "#storage/tables.ts";
import type { ControlWrite } from "./store.ts";

export { countRows, deleteRows, findRow, findRows, not, putRow, setColumns } from "#storage/tables.ts";

/** An audited object that belongs to no workspace. Changing it changes the config snapshot. */
export function installationObject<Name extends "providers" | "models" | "deployments" | "settings">(
  table: Name,
  idColumn: "id" | "name",
  { label, view }: Pick<AuditedObject<Name>, "label" | "view">,
): AuditedObject<Name> {
  return { table, idColumn, label, view, workspaceOf: () => null, notify: (log) => log.configChanged() };
}

type FileOwned = "workspaces" | "groups" | "api_keys" | "providers" | "models" | "guardrails" | "budget_policies";

type Managed<Name extends FileOwned | "settings"> = Row<Name> & { readonly managed_by: string };

/** Inserts and updates rows to match the config file. Returns the created rows, and the rows that the file no longer declares. */
export async function applyRows<Name extends FileOwned | "settings">(
  context: ControlWrite,
  object: AuditedObject<Name>,
  existing: readonly Managed<Name>[],
  wanted: readonly Managed<Name>[],
  nameOf: (row: Managed<Name>) => string,
): Promise<{ readonly create: readonly Managed<Name>[]; readonly vanished: readonly Managed<Name>[] }> {
  const { create, update, vanished } = reconcile(existing, wanted, nameOf);
  await insertRows(context, object, create);
  for (const change of update) await updateRow(context, object, change);
  return { create, vanished };
}

/** Suspends a row that the file no longer declares, or releases it to the console if other objects need it. */
export async function suspendOrRelease<Name extends FileOwned>(
  context: ControlWrite,
  object: AuditedObject<Name>,
  row: Row<Name>,
  isNeeded: boolean,
): Promise<void> {
  if (!isNeeded) await suspendRows(context, object, [row]);
  else await updateRow(context, object, { before: row, after: { ...row, managed_by: "console" satisfies ManagedBy } });
}
