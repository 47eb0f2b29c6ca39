import { IdNumbers } from "./id-numbers.ts";

const reportPastBytesMax = 24 * 1024 * 1024;
const reportIdBytesMax = 24 * 1024 * 1024;
/** Approximate overhead of an entry. */
const entryBytes = 100;

/** A period of past days or hours. `version` changes with the rollups of any of them. */
export interface PastTime {
  readonly from: number;
  readonly to: number;
  readonly version: string;
}

interface PastSum {
  readonly version: string;
  readonly value: unknown;
  readonly bytes: number;
}

/** Caches what questions found in past times, for as long as those have the same versions. Least recently used sums are dropped. */
export class PastSums {
  readonly #bytesMax: number;
  readonly #idBytesMax: number;
  readonly #sums = new Map<string, PastSum>();
  #bytes = 0;
  #numbers = new Map<string, IdNumbers>();
  #generation = 0;

  constructor(bytesMax = reportPastBytesMax, idBytesMax = reportIdBytesMax) {
    this.#bytesMax = bytesMax;
    this.#idBytesMax = idBytesMax;
  }

  /** Approximate, without the numbers of ids. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The cached sum, or what `read` resolves to. Must not be modified. */
  async find<Found>(
    question: string,
    time: PastTime,
    read: () => Promise<Found>,
    bytesOf: (found: Found) => number,
  ): Promise<Found> {
    const cached = this.cached<Found>(question, time);
    if (cached !== undefined) return cached.value;
    const value = await read();
    this.put(question, time, value, bytesOf(value));
    return value;
  }

  /** undefined: it is not cached. */
  cached<Found>(question: string, time: PastTime): { readonly value: Found } | undefined {
    const key = keyOf(question, time);
    const sum = this.#take(key);
    if (sum?.version !== time.version) return undefined;
    this.#put(key, sum);
    return { value: sum.value as Found };
  }

  put(question: string, time: PastTime, value: unknown, bytes: number): void {
    const key = keyOf(question, time);
    const { version } = time;
    this.#take(key);
    this.#put(key, { version, value, bytes: entryBytes + key.length + version.length + bytes });
  }

  /**
   * The numbers of the ids of a column, shared by its sums. If all numbers together take too much memory, they start anew and `generation`
   * changes. Questions about sums with numbers must contain it.
   */
  numbersOf(column: string): { readonly numbers: IdNumbers; readonly generation: number } {
    const bytes = [...this.#numbers.values()].reduce((all, numbers) => all + numbers.bytes, 0);
    if (bytes > this.#idBytesMax) {
      this.#numbers = new Map();
      this.#generation += 1;
    }
    const numbers = this.#numbers.get(column) ?? new IdNumbers();
    this.#numbers.set(column, numbers);
    return { numbers, generation: this.#generation };
  }

  #take(key: string): PastSum | undefined {
    const sum = this.#sums.get(key);
    this.#sums.delete(key);
    this.#bytes -= sum?.bytes ?? 0;
    return sum;
  }

  #put(key: string, sum: PastSum): void {
    this.#sums.set(key, sum);
    this.#bytes += sum.bytes;
    for (const oldest of this.#sums.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#take(oldest);
    }
  }
}

function keyOf(question: string, { from, to }: PastTime): string {
  return `${from} ${to} ${question}`;
}
