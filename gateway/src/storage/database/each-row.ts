import type { CompiledQuery } from "kysely";
import type { Connection } from "./database.ts";

/** SQLite: the parameters of a statement that is run once for each of many rows. It is the only parameter of its query. */
export class EachRow {
  readonly rows: readonly (readonly unknown[])[];
  /** Whether the statement changed anything, row by row. */
  readonly changed: boolean[] = [];

  constructor(rows: readonly (readonly unknown[])[]) {
    this.rows = rows;
  }

  /** What stands in a statement's parameters; null: they are those of one run. */
  static in([only]: readonly unknown[]): EachRow | null {
    return only instanceof EachRow ? only : null;
  }
}

/**
 * One statement of SQLite, prepared once and run for each row within a transaction. One statement of many rows takes a third longer: it
 * binds thousands of parameters, and what it returns of each row is collected.
 */
export async function runEach<Row, Result>(
  connection: Connection,
  query: CompiledQuery<Result>,
  rows: readonly Row[],
  bind: (row: Row, into: unknown[]) => void,
): Promise<{ readonly rows: readonly Result[]; readonly changed: readonly boolean[] }> {
  const each = new EachRow(
    rows.map((row) => {
      const parameters: unknown[] = [];
      bind(row, parameters);
      return parameters;
    }),
  );
  const { rows: returned } = await connection.executeQuery<Result>({ ...query, parameters: [each] });
  return { rows: returned, changed: each.changed };
}
