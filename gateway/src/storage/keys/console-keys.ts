import type { ConsoleKey } from "@sluice/contract/console";
import type { Connection } from "../database/database.ts";
import type { Row } from "../database/schema.ts";
import { fieldsOf } from "./key-fields.ts";
import { boundsOf, namedKeys } from "./key-rows.ts";

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
        .whereRef("ledger_entries.key_id", "=", "api_keys.id")
        .select((e) => e.fn.max<number | null>("ledger_entries.at").as("at"))
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

export type ConsoleKeyRow = Row<"api_keys"> & {
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
