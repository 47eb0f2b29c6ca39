import { bounds } from "#core/index.ts";
import { isFieldName, isFieldValue } from "./fields.ts";

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

  /** With its end. */
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
