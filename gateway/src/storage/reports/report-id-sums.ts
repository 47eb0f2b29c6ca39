import { sql } from "kysely";
import type { UsageFilter } from "#ports/index.ts";
import { addSketch, noCounts, percentilesOf } from "../database/latency-sketch.ts";
import type { LatencyColumn } from "../database/schema.ts";
import type { RowPart } from "../ledger/ledger-day-reading.ts";
import type { TimeSpan } from "../ledger/ledger-grains.ts";
import type { rollupSums } from "../ledger/ledger-rollup.ts";
import type { IdNumbers } from "./id-numbers.ts";
import { type ReportContext, timeSlices } from "./report-context.ts";
import { joinedTexts, shortSketch } from "./report-figures.ts";
import { hideOtherPeople, type UsageColumn, type UsageRows } from "./report-usage-rows.ts";

export type SumName = (typeof rollupSums)[number];

/** A query must read at least one sum. */
export interface WantedSums {
  readonly sums: readonly SumName[];
  readonly sketch?: LatencyColumn;
}

/** The cached form: sums of the ids with these numbers. */
class PackedSums {
  readonly numbers: Int32Array;
  readonly columns: readonly Float64Array[];
  /** Empty without a wanted sketch. */
  readonly sketches: readonly string[];
  readonly #percentiles = new Map<number, Float64Array>();

  constructor(numbers: Int32Array, columns: readonly Float64Array[], sketches: readonly string[]) {
    this.numbers = numbers;
    this.columns = columns;
    this.sketches = sketches;
  }

  /** Of each sketch, computed once for each share; NaN: nothing was counted. */
  percentiles(share: number): Float64Array {
    const cached = this.#percentiles.get(share);
    if (cached !== undefined) return cached;
    const all = Float64Array.from(this.sketches, (sketch) => percentileOf(sketch, share) ?? Number.NaN);
    this.#percentiles.set(share, all);
    return all;
  }

  /** Approximate, with the percentiles of one share. */
  get bytes(): number {
    const texts = this.sketches.reduce((bytes, sketch) => bytes + sketch.length + sketchBytes, 0);
    return this.numbers.byteLength + this.columns.length * this.numbers.length * 8 + texts;
  }
}

/** Approximate overhead of a sketch and its percentile. */
const sketchBytes = 32;

const spans = noCounts();

function percentileOf(sketch: string, share: number): number | null {
  if (sketch === "") return null;
  addSketch(spans.fill(0), sketch);
  return percentilesOf(spans, [share])[0] ?? null;
}

/** Sums by id, in columns. There may be a hundred thousand ids, so they have numbers. */
export class IdSums {
  readonly #ids: IdNumbers;
  readonly #wanted: WantedSums;
  readonly #numbers: number[] = [];
  #isThere = new Uint8Array(0);
  #columns: Float64Array[];
  readonly #sketches: string[] = [];
  readonly #parts: PackedSums[] = [];
  /** The part that has the whole sketch of a number, counted from 1, and the place in it. 0: no part has. */
  #partOf = new Uint8Array(0);
  #placeOf = new Int32Array(0);

  constructor(ids: IdNumbers, wanted: WantedSums) {
    this.#ids = ids;
    this.#wanted = wanted;
    this.#columns = wanted.sums.map(() => new Float64Array(0));
    this.#grow();
  }

  /** The numbers of all ids that have sums. */
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  idOf(number: number): string {
    return this.#ids.idOf(number);
  }

  /** 0 if the id or the sum is not there. */
  sumOf(id: string, name: SumName): number {
    const number = this.#ids.numberOf(id);
    return number === undefined ? 0 : this.sum(number, name);
  }

  sum(number: number, name: SumName): number {
    return this.#columns[this.#wanted.sums.indexOf(name)]?.[number] ?? 0;
  }

  percentile(number: number, share: number): number | null {
    const part = this.#parts[(this.#partOf[number] ?? 0) - 1];
    if (part === undefined) return percentileOf(this.#sketches[number] ?? "", share);
    const value = part.percentiles(share)[this.#placeOf[number] ?? 0] ?? Number.NaN;
    return Number.isNaN(value) ? null : value;
  }

  add(id: string, readColumn: (column: number) => number, sketch: string): void {
    const number = this.#ids.add(id);
    this.#ensure(number);
    for (let n = 0; n < this.#columns.length; n++) {
      const column = this.#columns[n] as Float64Array;
      column[number] = (column[number] ?? 0) + readColumn(n);
    }
    this.#addSketch(number, sketch, 0, 0);
  }

  addPacked(part: PackedSums): void {
    const { numbers, columns, sketches } = part;
    const partNumber = this.#parts.push(part);
    for (let place = 0; place < numbers.length; place++) this.#ensure(numbers[place] ?? 0);
    for (let n = 0; n < columns.length; n++) {
      const column = columns[n] as Float64Array;
      const sums = this.#columns[n] as Float64Array;
      for (let place = 0; place < numbers.length; place++) {
        const number = numbers[place] ?? 0;
        sums[number] = (sums[number] ?? 0) + (column[place] ?? 0);
      }
    }
    for (let place = 0; place < sketches.length; place++) {
      this.#addSketch(numbers[place] ?? 0, sketches[place] ?? "", partNumber, place);
    }
  }

  packed(): PackedSums {
    const numbers = Int32Array.from(this.#numbers);
    const columns = this.#columns.map((column) => Float64Array.from(numbers, (number) => column[number] ?? 0));
    const { sketch } = this.#wanted;
    return new PackedSums(
      numbers,
      columns,
      sketch === undefined ? [] : this.#numbers.map((number) => this.#sketches[number] ?? ""),
    );
  }

  #addSketch(number: number, sketch: string, part: number, place: number): void {
    if (sketch === "") return;
    const before = this.#sketches[number] ?? "";
    this.#sketches[number] = before === "" ? sketch : shortSketch(before + sketch);
    this.#partOf[number] = before === "" ? part : 0;
    this.#placeOf[number] = place;
  }

  #ensure(number: number): void {
    if (number >= this.#isThere.length) this.#grow();
    if (this.#isThere[number] === 1) return;
    this.#isThere[number] = 1;
    this.#numbers.push(number);
  }

  /** Makes room for all ids and as many new ones. */
  #grow(): void {
    const size = Math.max(64, this.#ids.size * 2);
    const grown = <Values extends Float64Array | Uint8Array | Int32Array>(larger: Values, values: Values): Values => {
      larger.set(values);
      return larger;
    };
    this.#isThere = grown(new Uint8Array(size), this.#isThere);
    this.#columns = this.#columns.map((column) => grown(new Float64Array(size), column));
    if (this.#wanted.sketch === undefined) return;
    this.#partOf = grown(new Uint8Array(size), this.#partOf);
    this.#placeOf = grown(new Int32Array(size), this.#placeOf);
  }
}

export interface IdQuery {
  readonly context: ReportContext;
  readonly source: UsageRows;
  readonly filter: UsageFilter;
  readonly column: UsageColumn;
}

/** The wanted sums of all ids. Past times are cached. */
export async function sumsOfIds(query: IdQuery, span: TimeSpan, wanted: WantedSums): Promise<IdSums> {
  const { context, source, column } = query;
  const covered = await source.clipToData(span);
  const past = source.past(covered, column);
  const { numbers, generation } = context.pastSums.numbersOf(column);
  const found = new IdSums(numbers, wanted);
  for (const time of past) {
    const readPast = async () => {
      const all = new IdSums(numbers, wanted);
      await addRows(all, query, { span: time, isPast: true }, wanted);
      return all.packed();
    };
    const question = JSON.stringify([source.question, column, "ids", generation, wanted]);
    found.addPacked(await context.pastSums.find(question, time, readPast, ({ bytes }) => bytes));
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
