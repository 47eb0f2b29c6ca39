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

  [Symbol.iterator](): Iterator<[string, string]> {
    const fields = this.#fields;
    const entries: [string, string][] = [];
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? "";
      if (this.#firstAt(name) === index) entries.push([name, this.get(name) ?? ""]);
    }
    return entries.values();
  }

  /** A value may look like a name: only every second place holds one. */
  #firstAt(name: string): number {
    const fields = this.#fields;
    let index = 0;
    while (index < fields.length && fields[index] !== name) index += 2;
    return index;
  }
}
