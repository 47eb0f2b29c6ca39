import { bounds, type HeaderReader } from "#core/index.ts";
import { type Fields, isFieldName, isFieldValue } from "./fields.ts";

/** Reads the fields of a message as the runtime's Headers do, without creating Headers. */
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
      if (this.#has(name, 0, index)) continue;
      const value = fields[index + 1] ?? "";
      take(this.#has(name, index + 2, fields.length) ? (this.get(name) ?? value) : value, name);
    }
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    const entries: [string, string][] = [];
    this.forEach((value, name) => void entries.push([name, value]));
    return entries.values();
  }

  /** Only every second entry is a name. */
  #has(name: string, from: number, to: number): boolean {
    const fields = this.#fields;
    for (let index = from; index < to; index += 2) if (fields[index] === name) return true;
    return false;
  }
}

/** The last line of a name. */
interface LastLine {
  /** The text before the value; null: fields of this name are not written. */
  readonly start: string | null;
  value: string | null;
  line: string;
}

/** Writes lines of fields. Most heads repeat the one before, so the last line of each name is cached, and a name is checked once. */
export class FieldLines {
  readonly #isOwn: (name: string) => boolean;
  readonly #refuse: (problem: "name" | "value") => void;
  readonly #last = new Map<string, LastLine>();

  /** `isOwn`: fields that the connection writes itself; their line is empty. `refuse` is called for an invalid field, and may throw. */
  constructor(isOwn: (name: string) => boolean, refuse: (problem: "name" | "value") => void = () => {}) {
    this.#isOwn = isOwn;
    this.#refuse = refuse;
  }

  of(name: string, value: string): string {
    const last = this.#last.get(name) ?? this.#begin(name);
    if (last.value === value) return last.line;
    const line = this.#write(last.start, value);
    last.value = value;
    last.line = line;
    return line;
  }

  #write(start: string | null, value: string): string {
    if (start === null) return "";
    if (isFieldValue(value)) return `${start}${value}\r\n`;
    this.#refuse("value");
    return "";
  }

  #begin(name: string): LastLine {
    const isOwn = this.#isOwn(name);
    const isGood = isOwn || isFieldName(name);
    if (!isGood) this.#refuse("name");
    const begun: LastLine = { start: isOwn || !isGood ? null : `${name}: `, value: null, line: "" };
    if (this.#last.size < bounds.headerNamesMax) this.#last.set(name, begun);
    return begun;
  }
}
