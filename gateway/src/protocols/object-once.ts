/**
 * Reads the objects of a body around members of theirs that were found: each once, however many of its members are found,
 * and all together no more than a few times the body, however deep they stand in each other. null: no more is read.
 */
export class ObjectsOnce<Value> {
  readonly #read: (start: number, end: number) => Value;
  readonly #endOf: (start: number) => number;
  readonly #known = new Map<number, Value | null>();
  #bytesLeft: number;

  constructor(bytes: Uint8Array, endOf: (start: number) => number, read: (start: number, end: number) => Value) {
    this.#read = read;
    this.#endOf = endOf;
    this.#bytesLeft = bytes.length * timesMax;
  }

  at(start: number): Value | null {
    const known = this.#known.get(start);
    if (known !== undefined) return known;
    const end = this.#bytesLeft > 0 ? this.#endOf(start) : start;
    this.#bytesLeft -= end - start;
    const value = this.#bytesLeft > 0 ? this.#read(start, end) : null;
    this.#known.set(start, value);
    return value;
  }
}

const timesMax = 4;
