import { sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import type { LatencyColumn } from "../database/schema.ts";
import type { RowPart } from "../ledger/ledger-day-reading.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import type { rollupSums } from "../ledger/ledger-rollup.ts";
import { type ReportContext, timeSlices } from "./report-context.ts";
import { joinedTexts, shortSketch } from "./report-figures.ts";
import { hideOtherPeople, type UsageColumn, type UsageRows } from "./report-usage-rows.ts";

export type SumName = (typeof rollupSums)[number];

/** A query must read at least one sum. */
export interface WantedSums {
  readonly sums: readonly SumName[];
  readonly sketch?: LatencyColumn;
}

/** The cached form: short, because there may be a hundred thousand ids. */
interface PackedSums {
  /** JSON. */
  readonly ids: string;
  readonly columns: readonly Float64Array[];
  /** One line for each id. */
  readonly sketches: string;
}

/** Sums by id, in columns. */
export class IdSums {
  readonly ids: string[] = [];
  readonly #wanted: WantedSums;
  readonly #places = new Map<string, number>();
  readonly #columns: readonly number[][];
  readonly #sketches: string[] = [];

  constructor(wanted: WantedSums) {
    this.#wanted = wanted;
    this.#columns = wanted.sums.map(() => []);
  }

  add(id: string, readColumn: (column: number) => number, sketch: string): void {
    const place = this.#places.get(id);
    if (place === undefined) {
      this.#places.set(id, this.ids.length);
      this.ids.push(id);
      for (const [n, column] of this.#columns.entries()) column.push(readColumn(n));
      this.#sketches.push(sketch);
      return;
    }
    for (const [n, column] of this.#columns.entries()) column[place] = (column[place] ?? 0) + readColumn(n);
    if (sketch !== "") this.#sketches[place] = shortSketch(this.#sketches[place] + sketch);
  }

  /** 0 if the id or the sum is not there. */
  sum(id: string, name: SumName): number {
    const place = this.#places.get(id);
    return place === undefined ? 0 : (this.#columns[this.#wanted.sums.indexOf(name)]?.[place] ?? 0);
  }

  sketch(id: string): string {
    const place = this.#places.get(id);
    return place === undefined ? "" : (this.#sketches[place] ?? "");
  }

  packed(): PackedSums {
    const columns = this.#columns.map((column) => Float64Array.from(column));
    return { ids: JSON.stringify(this.ids), columns, sketches: this.#sketches.join("\n") };
  }

  addPacked({ ids, columns, sketches }: PackedSums): void {
    const lines = sketches.split("\n");
    for (const [place, id] of (JSON.parse(ids) as readonly string[]).entries()) {
      this.add(id, (n) => columns[n]?.[place] ?? 0, lines[place] ?? "");
    }
  }
}

function bytesOf({ ids, columns, sketches }: PackedSums): number {
  return ids.length + sketches.length + columns.reduce((bytes, column) => bytes + column.byteLength, 0);
}

export interface IdQuery {
  readonly context: ReportContext;
  readonly source: UsageRows;
  readonly filter: UsageFilter;
  readonly column: UsageColumn;
}

/** The wanted sums of all ids. Past days are cached. */
export async function sumsOfIds(query: IdQuery, span: TimeSpan, wanted: WantedSums): Promise<IdSums> {
  const { context, source, column } = query;
  const covered = await source.clipToData(span);
  const past = source.past(covered, column);
  const found = new IdSums(wanted);
  if (past !== null) {
    const readPast = async () => {
      const all = new IdSums(wanted);
      await addRows(all, query, { span: past, isPast: true }, wanted);
      return all.packed();
    };
    const question = JSON.stringify([source.question, column, "ids", wanted]);
    found.addPacked(await context.pastSums.find(question, past, readPast, bytesOf));
  }
  for (const part of source.restOf(covered, past)) await addRows(found, query, part, wanted);
  return found;
}

async function addRows(
  found: IdSums,
  { context, source, filter, column }: IdQuery,
  part: RowPart,
  { sums, sketch }: WantedSums,
): Promise<void> {
  const sketches = sketch === undefined ? [] : [sketch];
  await timeSlices(part.span, source.firstSliceMs, context.deadline, async (span) => {
    const within = source.within({ ...part, span }, { column, stepMs: null, summed: sums, sketches });
    const rows = await hideOtherPeople(within, column, filter)
      .select(sql<string>`${sql.ref(column)}`.as("id"))
      .select((eb) => sums.map((name) => eb.fn.sum<number>(name).as(name)))
      .select(sketches.map((name) => joinedTexts(context, name, "").as("sketch")))
      .groupBy(sql.ref(column))
      .execute();
    for (const row of rows as unknown as readonly SummedRow[]) {
      found.add(row.id, (n) => row[sums[n] as SumName] ?? 0, shortSketch(row.sketch ?? ""));
    }
  });
}

type SummedRow = { readonly id: string; readonly sketch?: string | null } & { readonly [Name in SumName]?: number };
