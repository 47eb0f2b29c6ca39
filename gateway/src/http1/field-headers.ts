import type { HeaderReader } from "#core/index.ts";
import type { Fields } from "./fields.ts";

/** The fields of a message, read as the runtime's Headers are, without making any. */
export class FieldHeaders implements HeaderReader {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    const fields = this.#fields;
    let value: string | null = null;
    for (let index = 0; index < fields.length; index += 2) {
      if (fields[index] !== name) continue;
      const more = fields[index + 1] ?? "";
      value = value === null ? more : `${value}, ${more}`;
    }
    return value;
  }

  has(name: string): boolean {
    const fields = this.#fields;
    for (let index = 0; index < fields.length; index += 2) if (fields[index] === name) return true;
    return false;
  }

  forEach(take: (value: string, name: string) => void): void {
    const fields = this.#fields;
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? "";
      if (this.#stands(name, 0, index)) continue;
      const value = fields[index + 1] ?? "";
      take(this.#stands(name, index + 2, fields.length) ? (this.get(name) ?? value) : value, name);
    }
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    const entries: [string, string][] = [];
    this.forEach((value, name) => void entries.push([name, value]));
    return entries.values();
  }

  /** A value may look like a name: only every second place holds one. */
  #stands(name: string, from: number, to: number): boolean {
    const fields = this.#fields;
    for (let index = from; index < to; index += 2) if (fields[index] === name) return true;
    return false;
  }
}
