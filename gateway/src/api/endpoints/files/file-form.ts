import { Failure } from "#core/index.ts";
import type { FormEvent } from "#protocols/index.ts";

/** The file of a form, and the form's fields. Offsets count from the beginning of the form. */
export interface ReadFile {
  readonly fields: ReadonlyMap<string, string>;
  readonly filename: string;
  /** As the form declares it. */
  readonly contentType: string | null;
  readonly start: number;
  readonly end: number;
}

/** More than any field of these forms. */
const fieldBytesMax = 1_024;

/** Reads a form with exactly one file, in the part `part`. Fields other than `names` are ignored. */
export class FileForm {
  readonly #part: string;
  readonly #names: ReadonlySet<string>;
  readonly #fields = new Map<string, string>();
  #field: { readonly name: string; readonly pieces: Uint8Array[]; size: number } | null = null;
  #file: { readonly filename: string; readonly contentType: string | null; start: number; end: number } | null = null;
  #inFile = false;

  constructor(part: string, names: readonly string[]) {
    this.#part = part;
    this.#names = new Set(names);
  }

  take(event: FormEvent): void {
    if (event.kind === "part-start") this.#begin(event);
    else if (event.kind === "part-data") this.#add(event.bytes);
    else if (event.kind === "part-end") this.#close(event.end);
  }

  /** Throws Failure missing_required_parameter or invalid_request. */
  end(): ReadFile {
    const file = this.#file;
    if (file === null) {
      throw new Failure("missing_required_parameter", `${this.#part} is missing.`, { param: this.#part });
    }
    if (file.start === file.end) throw invalid("The file is empty.", this.#part);
    return { fields: this.#fields, ...file };
  }

  #begin({ head, start }: Extract<FormEvent, { kind: "part-start" }>): void {
    const { name, filename, contentType } = head;
    if (name === this.#part) {
      // Some clients send a part of an upload without a name.
      if (this.#file !== null) throw invalid("A form can have only one file.", name);
      this.#file = { filename: filename ?? "", contentType, start, end: start };
      this.#inFile = true;
      return;
    }
    if (filename !== null) throw invalid(`The file must be called ${this.#part}.`, this.#part);
    if (!this.#names.has(name)) return;
    if (this.#fields.has(name)) throw invalid(`${name} occurs more than once in the form.`, name);
    this.#field = { name, pieces: [], size: 0 };
  }

  #add(bytes: Uint8Array): void {
    const field = this.#field;
    if (this.#inFile || field === null) return;
    field.size += bytes.length;
    if (field.size > fieldBytesMax) throw invalid(`${field.name} is too long.`, field.name);
    // The piece is reused by its owner.
    field.pieces.push(Buffer.from(bytes));
  }

  #close(end: number): void {
    if (this.#inFile && this.#file !== null) this.#file.end = end;
    else if (this.#field !== null) {
      this.#fields.set(this.#field.name, Buffer.concat(this.#field.pieces).toString("utf8"));
    }
    this.#inFile = false;
    this.#field = null;
  }
}

function invalid(message: string, param: string): Failure {
  return new Failure("invalid_request", message, { param });
}
