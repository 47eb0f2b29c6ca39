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
 * Leases: rows that come due and are worked on by one pass at a time, in any number of processes. A pass takes rows in one
 * statement and has until `leasedUntil`; then anybody may take them again. What it learned is written under a fence, so
 * that a pass that stood still does not write over what came after it. There are two fences:
 *
 * - A token (`lease`, with `leased_until`) where the work has several steps. See `newLeaseToken` and `leaseIsFree`.
 * - The due time itself, moved to `leasedUntil`, where the work has one step. See `underDueLease`.
 */
type LeasedTable = "tasks" | "assets" | "webhook_deliveries" | "notices_told";

/** What tells the rows of a table apart. */
const keyColumns = {
  tasks: ["id"],
  assets: ["id"],
  webhook_deliveries: ["id"],
  notices_told: ["notice_id", "budget", "period_start", "percent"],
} as const satisfies Record<LeasedTable, readonly string[]>;

export interface DueRows {
  /** Unix milliseconds. */
  readonly now: number;
  readonly limit: number;
  /** A further condition on the rows. */
  readonly only?: RawBuilder<SqlBool>;
}

/**
 * An update of the rows that are due, oldest due first; the caller sets what marks them as taken. One statement chooses and
 * takes them: what two passes see, only one gets.
 */
export function updateDue<Name extends LeasedTable>(
  { flavour }: Pick<Database, "flavour">,
  connection: Connection,
  table: Name,
  { now, limit, only }: DueRows,
): UpdateQueryBuilder<Tables, Name, Name, UpdateResult> {
  const keys = keyColumns[table];
  // Every table has these columns; one stands for all.
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
  // Where several passes write at once, each takes what the others have not locked. Chosen apart: within the update the choice
  // could be made more than once, and each time fall on further rows.
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

/** That nobody holds the row by a token. */
export function isUnleased(now: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until is null or leased_until <= ${now})`;
}

/** That the row is still leased by the pass whose lease ends at `leasedUntil`: nobody took it since, or told its end. */
export function isLeasedUntil(leasedUntil: number | null): RawBuilder<SqlBool> {
  return leasedUntil === null ? sql<SqlBool>`due_at is null` : sql<SqlBool>`due_at = ${leasedUntil}`;
}

/** Not to be guessed, and never given out twice: a pass that lost its lease cannot write with it. */
export function newLeaseToken(): string {
  return randomBytes(16).toString("base64url");
}
