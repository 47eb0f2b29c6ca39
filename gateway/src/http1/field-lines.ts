import { bounds } from "#core/index.ts";
import { isFieldName, isFieldValue } from "./fields.ts";

/** The last line of a name. */
interface LastLine {
  readonly name: string;
  /** The text before the value, with the end of the line before; null: fields of this name are not written. */
  readonly start: string | null;
  value: string | null;
  /** null until the value comes again. */
  line: string | null;
  /** The name that followed last. */
  next: LastLine | null;
}

/**
 * Writes lines of fields, each after the end of the line before it, so that a head has fewer parts. Most heads repeat the names of the
 * one before in the same order, and many of its values: the last line of each name is cached, and a name is checked once.
 */
export class FieldLines {
  readonly #isOwn: (name: string) => boolean;
  readonly #refuse: (problem: "name" | "value") => void;
  readonly #cached = new Map<string, LastLine>();
  #before: LastLine = { name: "", start: null, value: null, line: null, next: null };

  /** `isOwn`: fields that the connection writes itself; their line is empty. `refuse` is called for an invalid field, and may throw. */
  constructor(isOwn: (name: string) => boolean, refuse: (problem: "name" | "value") => void = () => {}) {
    this.#isOwn = isOwn;
    this.#refuse = refuse;
  }

  /** Adds the line, perhaps in two parts, unless the field is not written. */
  add(lines: string[], name: string, value: string): void {
    const { next } = this.#before;
    const last = next !== null && next.name === name ? next : this.#lastOf(name);
    this.#before.next = last;
    this.#before = last;
    if (last.start === null) return;
    if (last.value === value) {
      last.line ??= last.start + value;
      lines.push(last.line);
    } else if (isFieldValue(value)) {
      last.value = value;
      last.line = null;
      lines.push(last.start, value);
    } else this.#refuse("value");
  }

  #lastOf(name: string): LastLine {
    const cached = this.#cached.get(name);
    if (cached !== undefined) return cached;
    const isOwn = this.#isOwn(name);
    const isGood = isOwn || isFieldName(name);
    if (!isGood) this.#refuse("name");
    if (this.#cached.size >= bounds.headerNamesMax) this.#cached.clear();
    const created: LastLine = {
      name,
      start: isOwn || !isGood ? null : `\r\n${name}: `,
      value: null,
      line: null,
      next: null,
    };
    this.#cached.set(name, created);
    return created;
  }
}
