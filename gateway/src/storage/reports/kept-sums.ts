/** What is kept of past days, for each who answers. */
const reportDaysBytesMax = 8 * 1024 * 1024;
/** About what an entry takes beside its value. */
const entryBytes = 100;

/** Days that are over, whole or in part, and what says that their hours are as they were. */
export interface PastTime {
  readonly from: number;
  readonly to: number;
  readonly version: string;
}

/**
 * What questions have found in days that are over, so that these are not read again for the same question. It counts only while every day
 * has the version that it was read at, so it is as right as the database itself; what was not asked for the longest leaves first.
 */
export class KeptSums {
  readonly #bytesMax: number;
  readonly #kept = new Map<string, { readonly version: string; readonly value: unknown; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax = reportDaysBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** About how much it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What the question has found in the past: as it was kept, or read now. Nobody changes it. */
  async find<Found>(
    question: string,
    { from, to, version }: PastTime,
    read: () => Promise<Found>,
    bytesOf: (found: Found) => number,
  ): Promise<Found> {
    const key = `${from} ${to} ${question}`;
    const kept = this.#take(key);
    if (kept?.version === version) {
      this.#put(key, kept);
      return kept.value as Found;
    }
    const value = await read();
    this.#take(key);
    this.#put(key, { version, value, bytes: entryBytes + key.length + version.length + bytesOf(value) });
    return value;
  }

  #take(key: string) {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    this.#bytes -= kept?.bytes ?? 0;
    return kept;
  }

  #put(key: string, kept: { readonly version: string; readonly value: unknown; readonly bytes: number }): void {
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#take(oldest);
    }
  }
}
