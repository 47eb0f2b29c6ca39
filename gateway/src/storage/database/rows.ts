import { type SelectQueryBuilder, sql } from "kysely";
import type { Connection } from "./database.ts";
import { chunksOf } from "./reconcile.ts";
import type { Row, Tables } from "./schema.ts";

/** A value, one of several, or anything but one. */
type Expected<Value> = Value | readonly Value[] | Not<Value>;
type Where<Name extends keyof Tables> = {
  readonly [Column in keyof Row<Name>]?: Expected<Row<Name>[Column]> | Not<null>;
};

class Not<Value> {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

export function not<const Value>(value: Value): Not<Value> {
  return new Not(value);
}

/** Rows that match `where`. A list of more than 500 values is read in several statements, each ordered by `order`. */
export async function findRows<Name extends keyof Tables>(
  connection: Connection,
  table: Name,
  where: Where<Name>,
  ...order: readonly (keyof Row<Name> & string)[]
): Promise<Row<Name>[]> {
  const rows: unknown[] = [];
  for (const conditions of statements(where)) {
    let query = selected(connection, table, conditions);
    for (const column of order) query = query.orderBy(column as "id");
    rows.push(...(await query.execute()));
  }
  return rows as Row<Name>[];
}

export async function findRow<Name extends keyof Tables>(
  connection: Connection,
  table: Name,
  where: Where<Name>,
): Promise<Row<Name> | undefined> {
  for (const conditions of statements(where)) {
    const row = await selected(connection, table, conditions).limit(1).executeTakeFirst();
    if (row !== undefined) return row as unknown as Row<Name>;
  }
  return undefined;
}

function selected(connection: Connection, table: keyof Tables, conditions: readonly Condition[]) {
  let query = connection.selectFrom(plain(table)).selectAll();
  for (const condition of conditions) query = query.where(...condition);
  return query;
}

/** Returns the number of deleted rows. */
export async function deleteRows<Name extends keyof Tables>(
  connection: Connection,
  table: Name,
  where: Where<Name>,
): Promise<number> {
  let deleted = 0;
  for (const conditions of statements(where)) {
    let query = connection.deleteFrom(plain(table));
    for (const condition of conditions) query = query.where(...condition);
    deleted += Number((await query.executeTakeFirst()).numDeletedRows);
  }
  return deleted;
}

/** Returns the number of changed rows. */
export async function setColumns<Name extends keyof Tables>(
  connection: Connection,
  table: Name,
  where: Where<Name>,
  columns: Partial<Row<Name>>,
): Promise<number> {
  let changed = 0;
  for (const conditions of statements(where)) {
    let query = connection.updateTable(plain(table)).set(columns as object);
    for (const condition of conditions) query = query.where(...condition);
    changed += Number((await query.executeTakeFirst()).numUpdatedRows);
  }
  return changed;
}

/** Inserts or updates the row with this key. `made`: columns that only a new row gets. */
export async function putRow<Name extends keyof Tables>(
  connection: Connection,
  table: Name,
  key: Partial<Row<Name>>,
  columns: Partial<Row<Name>>,
  made: Partial<Row<Name>> = {},
): Promise<void> {
  await connection
    .insertInto(plain(table))
    .values({ ...key, ...columns, ...made } as never)
    .onConflict((conflict) => conflict.columns(Object.keys(key) as never).doUpdateSet(columns as never))
    .execute();
}

export async function countRows<Names extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Names, object>,
): Promise<number> {
  const counting = query.clearSelect().select(sql<number>`count(*)`.as("n"));
  return Number((await counting.executeTakeFirstOrThrow()).n);
}

/** Kysely cannot type a table that is a parameter. */
function plain(table: keyof Tables) {
  return table as "workspaces";
}

type Condition = readonly ["id", "=" | "!=" | "in" | "is" | "is not", never];

/** The conditions of each statement: a statement takes at most 500 values of a list. */
function statements(where: object): readonly (readonly Condition[])[] {
  const columns = Object.entries(where);
  const lists = columns
    .filter(([, value]) => Array.isArray(value))
    .map(([column, values]) => {
      return chunksOf(values as unknown[]).map((chunk) => [column, "in", chunk] as unknown as Condition);
    });
  const plainly = columns
    .filter(([, value]) => !Array.isArray(value))
    .map(([column, expected]): Condition => {
      const value = expected instanceof Not ? expected.value : expected;
      const operator = expected instanceof Not ? (value === null ? "is not" : "!=") : value === null ? "is" : "=";
      return [column as "id", operator, value as never];
    });
  return lists.reduce<Condition[][]>(
    (all, chunks) => all.flatMap((before) => chunks.map((chunk) => [...before, chunk])),
    [plainly],
  );
}
