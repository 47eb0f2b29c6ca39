import { bounds, type HeaderReader } from "#core/index.ts";
import { type Fields, isFieldName, isFieldValue } from "./fields.ts";

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

/** A line as it was written last. */
interface LastLine {
  /** Before the value; null: fields of this name are not written. */
  readonly start: string | null;
  value: string | null;
  line: string;
}

/**
 * The lines of fields as they are written. Most heads say the same as the one before them, so each name's last line is kept, and a
 * name is judged once.
 */
export class FieldLines {
  readonly #isOwn: (name: string) => boolean;
  readonly #refuse: (problem: "name" | "value") => void;
  readonly #last = new Map<string, LastLine>();

  /** `isOwn`: fields that the connection writes itself; they have no line. `refuse` is called for a field that HTTP cannot carry, and may throw. */
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
