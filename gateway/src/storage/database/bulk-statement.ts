import type { CompiledQuery } from "kysely";

/**
 * One statement over many rows, compiled once per size and used again. Sizes are powers of two, so that few
 * statements cover every batch: 500 rows run as 64 × 7, 32, 16, 4.
 */
export class BulkStatement<Result> {
  readonly #compile: (rows: number) => CompiledQuery<Result>;
  readonly #rowsMax: number;
  readonly #compiled = new Map<number, CompiledQuery<Result>>();

  /** `compile` makes the statement for so many rows; a row has `columns` placeholders. */
  constructor(columns: number, parametersMax: number, compile: (rows: number) => CompiledQuery<Result>) {
    this.#compile = compile;
    this.#rowsMax = largestPowerOfTwo(Math.min(rowsUseful, Math.floor(parametersMax / columns)));
  }

  /** Gives each piece of `rows` its statement, with the values `bind` appends, to `execute`, one after the other. */
  async run<T>(
    rows: readonly T[],
    bind: (row: T, into: unknown[]) => void,
    execute: (query: CompiledQuery<Result>) => Promise<void>,
  ): Promise<void> {
    let start = 0;
    while (start < rows.length) {
      const size = Math.min(this.#rowsMax, largestPowerOfTwo(rows.length - start));
      const parameters: unknown[] = [];
      for (const row of rows.slice(start, start + size)) bind(row, parameters);
      await execute({ ...this.#query(size), parameters });
      start += size;
    }
  }

  #query(rows: number): CompiledQuery<Result> {
    const known = this.#compiled.get(rows);
    if (known !== undefined) return known;
    const compiled = this.#compile(rows);
    this.#compiled.set(rows, compiled);
    return compiled;
  }
}

/** Measured: from 64 rows on, a longer statement gains nothing. */
const rowsUseful = 64;

function largestPowerOfTwo(limit: number): number {
  return 2 ** Math.floor(Math.log2(limit));
}
