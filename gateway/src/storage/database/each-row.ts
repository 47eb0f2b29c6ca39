import type { CompiledQuery } from "kysely";
import type { Connection } from "./database.ts";

/** SQLite: the parameters of a statement that is run once for each of many rows. It is the only parameter of its query. */
export class EachRow {
  readonly rows: readonly (readonly unknown[])[];
  /** How many rows of the table each run of the statement changed. */
  readonly changed: number[] = [];

  constructor(rows: readonly (readonly unknown[])[]) {
    this.rows = rows;
  }

  /** What stands in a statement's parameters; null: they are those of one run. */
  static in([only]: readonly unknown[]): EachRow | null {
    return only instanceof EachRow ? only : null;
  }
}

/** One statement of SQLite, prepared once and run for each of these parameters, within a transaction. */
export async function runEach<Result>(
  connection: Connection,
  query: CompiledQuery<Result>,
  parameters: readonly (readonly unknown[])[],
): Promise<{ readonly rows: readonly Result[]; readonly changed: readonly number[] }> {
  const each = new EachRow(parameters);
  const { rows } = await connection.executeQuery<Result>({ ...query, parameters: [each] });
  return { rows, changed: each.changed };
}
