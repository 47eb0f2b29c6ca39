import type { AuditObject } from "@sluice/contract/words";
import { chunksOf, sameRow, updateAction } from "../database/reconcile.ts";
import type { Row, Tables } from "../database/schema.ts";
import type { Action, AuditedWrite, AuditView, ChangeLog } from "./audited-write.ts";

type AuditedTable = Extract<
  keyof Tables,
  | "workspaces"
  | "groups"
  | "api_keys"
  | "providers"
  | "models"
  | "deployments"
  | "guardrails"
  | "budget_policies"
  | "settings"
  | "alert_rules"
  | "alert_channels"
  | "saved_views"
  | "key_requests"
  | "scheduled_reports"
  | "playground_shares"
>;

type SuspendableTable =
  | "workspaces"
  | "groups"
  | "api_keys"
  | "providers"
  | "models"
  | "guardrails"
  | "budget_policies";

/** A table that people configure. Admin API, command line and config file all write it through the functions below. */
export interface AuditedObject<Name extends AuditedTable> {
  readonly table: Name;
  readonly idColumn: "id" | "name";
  /** For example `key acme/ci`. */
  label(row: Row<Name>): AuditObject;
  /** Without secrets. `before`: the row that it replaces. */
  view(row: Row<Name>, before: Row<Name> | null): AuditView;
  /** null: it belongs to the installation. */
  workspaceOf(row: Row<Name>): string | null;
  /** Records which caches of other processes to invalidate. */
  notify(log: ChangeLog, row: Row<Name>): void;
}

export async function insertRows<Name extends AuditedTable>(
  { transaction, log }: AuditedWrite,
  object: AuditedObject<Name>,
  rows: readonly Row<Name>[],
): Promise<void> {
  const plain = plainTable(object);
  for (const chunk of chunksOf(rows)) {
    await transaction
      .insertInto(plain.table)
      .values([...chunk] as never)
      .execute();
  }
  for (const row of rows) {
    log.record("create", object.label(row), null, object.view(row, null), object.workspaceOf(row));
    object.notify(log, row);
  }
}

/** Does nothing if the rows are equal. The audit row uses the label from before. */
export async function updateRow<Name extends AuditedTable>(
  { transaction, log }: AuditedWrite,
  object: AuditedObject<Name>,
  { before, after, action }: { readonly before: Row<Name>; readonly after: Row<Name>; readonly action?: Action },
): Promise<void> {
  if (sameRow(before, after)) return;
  const plain = plainTable(object);
  await transaction
    .updateTable(plain.table)
    .set(after as never)
    .where(plain.idColumn, "=", idOf(object, before))
    .execute();
  const done = action ?? updateAction(before, after);
  const views = [object.view(before, null), object.view(after, before)] as const;
  log.record(done, object.label(before), ...views, object.workspaceOf(after));
  object.notify(log, before);
  object.notify(log, after);
}

/** For rows that the config file no longer declares. They keep their id and everything that belongs to them. */
export async function suspendRows<Name extends SuspendableTable>(
  under: AuditedWrite,
  object: AuditedObject<Name>,
  rows: readonly Row<Name>[],
): Promise<void> {
  for (const before of rows) {
    await updateRow(under, object, { before, after: { ...before, managed_by: "suspended" } });
  }
}

/** `gone`: what was removed with each row, for the audit log. */
export async function removeRows<Name extends AuditedTable>(
  { transaction, log }: AuditedWrite,
  object: AuditedObject<Name>,
  rows: readonly Row<Name>[],
  gone: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const plain = plainTable(object);
  for (const chunk of chunksOf(rows.map((row) => idOf(object, row)))) {
    await transaction
      .deleteFrom(plain.table)
      .where(plain.idColumn, "in", [...chunk])
      .execute();
  }
  for (const row of rows) {
    log.record("remove", object.label(row), { ...object.view(row, null), ...gone }, null, object.workspaceOf(row));
    object.notify(log, row);
  }
}

function idOf<Name extends AuditedTable>(object: AuditedObject<Name>, row: Row<Name>): string {
  return (row as unknown as Readonly<Record<string, string>>)[object.idColumn] ?? "";
}

/** All tables have the same shape here, so the types of one are used. */
function plainTable(object: { readonly table: AuditedTable; readonly idColumn: "id" | "name" }) {
  return object as { readonly table: "workspaces"; readonly idColumn: "id" };
}
