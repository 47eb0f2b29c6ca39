/** Approximate overhead of an id. */
const idBytes = 80;

/** Numbers ids in the order in which they appear, so that sums by id are arrays of numbers. */
export class IdNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  #bytes = 0;

  get size(): number {
    return this.#ids.length;
  }

  /** Approximate. */
  get bytes(): number {
    return this.#bytes;
  }

  add(id: string): number {
    const existing = this.#numbers.get(id);
    if (existing !== undefined) return existing;
    const number = this.#ids.length;
    this.#numbers.set(id, number);
    this.#ids.push(id);
    this.#bytes += id.length + idBytes;
    return number;
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  idOf(number: number): string {
    return this.#ids[number] ?? "";
  }
}
