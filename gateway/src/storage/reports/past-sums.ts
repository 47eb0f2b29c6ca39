const reportDaysBytesMax = 16 * 1024 * 1024;
/** Approximate overhead of an entry. */
const entryBytes = 100;

/** A period of past days. `version` changes with the hours of any of them. */
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

/** Caches what questions found in past days, for as long as those days have the same versions. Least recently used sums are dropped. */
export class PastSums {
  readonly #bytesMax: number;
  readonly #sums = new Map<string, PastSum>();
  #bytes = 0;

  constructor(bytesMax = reportDaysBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Approximate. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The cached sum, or what `read` resolves to. Must not be modified. */
  async find<Found>(
    question: string,
    { from, to, version }: PastTime,
    read: () => Promise<Found>,
    bytesOf: (found: Found) => number,
  ): Promise<Found> {
    const key = `${from} ${to} ${question}`;
    const cached = this.#take(key);
    if (cached?.version === version) {
      this.#put(key, cached);
      return cached.value as Found;
    }
    const value = await read();
    this.#take(key);
    this.#put(key, { version, value, bytes: entryBytes + key.length + version.length + bytesOf(value) });
    return value;
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
