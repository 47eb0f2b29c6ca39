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
  readonly #kept = new Map<string, { readonly times: string; readonly value: unknown; readonly bytes: number }>();
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
    const times = `${from} ${to} ${version}`;
    const kept = this.#take(question);
    if (kept?.times === times) {
      this.#put(question, kept);
      return kept.value as Found;
    }
    const value = await read();
    this.#take(question);
    this.#put(question, { times, value, bytes: entryBytes + question.length + times.length + bytesOf(value) });
    return value;
  }

  #take(question: string) {
    const kept = this.#kept.get(question);
    this.#kept.delete(question);
    this.#bytes -= kept?.bytes ?? 0;
    return kept;
  }

  #put(question: string, kept: { readonly times: string; readonly value: unknown; readonly bytes: number }): void {
    this.#kept.set(question, kept);
    this.#bytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#take(oldest);
    }
  }
}
