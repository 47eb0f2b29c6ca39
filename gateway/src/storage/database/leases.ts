import { randomBytes } from "node:crypto";
import {
  type ExpressionBuilder,
  type RawBuilder,
  type ReferenceExpression,
  type SqlBool,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { Connection, Database } from "./database.ts";
import type { Tables } from "./schema.ts";

/**
 * Leases of rows that become due, worked on by one pass at a time in any number of processes. A pass takes rows in one statement and
 * holds them until `leasedUntil`; then anyone may take them. Results are written under a fence, so that a pass that was suspended does
 * not overwrite later work. Two kinds of fence:
 * - A token (`lease`, with `leased_until`) for work in several steps: `newLeaseToken`, `isUnleased`.
 * - The due time itself, moved to `leasedUntil`, for work in one step: `isLeasedUntil`.
 */
type LeasedTable =
  | "tasks"
  | "batches"
  | "assets"
  | "files"
  | "webhook_deliveries"
  | "alert_deliveries"
  | "scheduled_reports";

/** Primary keys. */
const keyColumns = {
  tasks: ["id"],
  batches: ["id"],
  assets: ["id"],
  files: ["id"],
  webhook_deliveries: ["id"],
  alert_deliveries: ["id"],
  scheduled_reports: ["id"],
} as const satisfies Record<LeasedTable, readonly string[]>;

export interface DueRows {
  /** Unix milliseconds. */
  readonly now: number;
  readonly limit: number;
  /** Additional condition. */
  readonly only?: RawBuilder<SqlBool>;
}

/**
 * Updates due rows, oldest first; the caller sets the columns that mark them as taken. Selecting and taking in one statement prevents two
 * passes from getting the same row.
 */
export function updateDue<Name extends LeasedTable>(
  { flavour }: Pick<Database, "flavour">,
  connection: Connection,
  table: Name,
  { now, limit, only }: DueRows,
): UpdateQueryBuilder<Tables, Name, Name, UpdateResult> {
  const keys = keyColumns[table];
  // All these tables have the same columns.
  const plain = table as "assets";
  let due = connection
    .selectFrom(plain)
    .select(keys as unknown as readonly ["id"])
    .where("due_at", "<=", now)
    .orderBy("due_at")
    .limit(Math.max(0, Math.floor(limit)));
  for (const key of keys) due = due.orderBy(key as "id");
  if (only !== undefined) due = due.where(only);
  const key = sql<string>`(${sql.join(keys.map((name) => sql.ref(name)))})` as ReferenceExpression<Tables, "assets">;
  // PostgreSQL: skip rows that other passes have locked. Materialized, because a subquery within the update could run again and lock
  // further rows.
  const update =
    flavour.name === "sqlite"
      ? connection.updateTable(plain).where(key, "in", due as never)
      : connection
          .with(
            (cte) => cte("due").materialized(),
            () => due.forUpdate().skipLocked(),
          )
          .updateTable(plain)
          .where(key, "in", ((eb: ExpressionBuilder<Tables & { due: object }, never>) =>
            eb.selectFrom("due").selectAll()) as never);
  return update as unknown as UpdateQueryBuilder<Tables, Name, Name, UpdateResult>;
}

/** No token holds the row. */
export function isUnleased(now: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until is null or leased_until <= ${now})`;
}

/** Matches a row whose lease still ends at `leasedUntil`, so no other pass has taken it. */
export function isLeasedUntil(leasedUntil: number | null): RawBuilder<SqlBool> {
  return leasedUntil === null ? sql<SqlBool>`due_at is null` : sql<SqlBool>`due_at = ${leasedUntil}`;
}

/** Unguessable and unique. */
export function newLeaseToken(): string {
  return randomBytes(16).toString("base64url");
}
