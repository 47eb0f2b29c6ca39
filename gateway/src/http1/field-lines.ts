import { bounds } from "#core/index.ts";

/** The lines of fields as they are written. Most heads say the same as the one before them, so each name's last line is kept. */
export class FieldLines {
  readonly #write: (name: string, value: string) => string;
  readonly #last = new Map<string, { value: string; line: string }>();

  /** `write`: the line with its end, or nothing; what it throws is thrown. */
  constructor(write: (name: string, value: string) => string) {
    this.#write = write;
  }

  of(name: string, value: string): string {
    const last = this.#last.get(name);
    if (last !== undefined && last.value === value) return last.line;
    const line = this.#write(name, value);
    if (last !== undefined) {
      last.value = value;
      last.line = line;
    } else if (this.#last.size < bounds.headerNamesMax) this.#last.set(name, { value, line });
    return line;
  }
}
