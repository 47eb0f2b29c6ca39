import type { FormField, FormFields } from "@sluice/contract/words";
import { bounds, checkField, Failure, tooLong } from "#core/index.ts";
import type { FormFacts, RequestFacts } from "../dialect.ts";
import type { Span } from "../json/cursor.ts";
import { invalid, missingParam, misspelled } from "../json/value.ts";
import { GovernedNames, governedMembers } from "../request/governed-names.ts";
import { checkedModelName, longModelName } from "../request/members.ts";
import type { FormEvent, PartHead } from "./multipart-scanner.ts";

interface Field {
  readonly table: FormField;
  readonly bytesMax: number;
  text: string | null;
  size: number;
  pieces: Uint8Array[];
}

/**
 * Collects the governing fields of a form while it is scanned and checks them by the contract's table. Duplicate or ambiguous fields are
 * refused. Counts the bytes of files.
 */
export class FormReader {
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #governed: GovernedNames;
  #open: { readonly name: string; readonly field: Field; readonly start: number } | null = null;
  #modelSpan: Span | null = null;
  readonly #table: FormFields;
  readonly #fileNames = new Set<string>();
  #inFile = false;
  /** The beginning of the first file. */
  fileBegin = Buffer.alloc(0);
  fileBytes = 0;
  files = 0;

  /** `bytesMaxByField`: bytes to keep of fields without a bound in the table. */
  constructor(table: FormFields, bytesMaxByField: Readonly<Record<string, number>>) {
    this.#table = table;
    this.#fields = new Map(
      Object.entries(table).flatMap(([name, field]) => {
        const bytesMax = bytesMaxByField[name] ?? textBytesMax(field);
        return bytesMax === null ? [] : [[name, { table: field, bytesMax, text: null, size: 0, pieces: [] }]];
      }),
    );
    this.#governed = new GovernedNames([...this.#fields.keys(), ...governedMembers]);
  }

  take(event: FormEvent): void {
    switch (event.kind) {
      case "part-start":
        this.#begin(event.head, event.start);
        return;
      case "part-data":
        if (this.#open !== null) this.#add(this.#open.name, this.#open.field, event.bytes);
        else if (this.#inFile) this.#countFile(event.bytes);
        return;
      case "part-end":
        this.#close(event.end);
        return;
      case "end":
    }
  }

  /** Throws Failure missing_required_parameter or invalid_request. */
  check(): void {
    for (const [name, field] of Object.entries(this.#table)) {
      if (field.file === undefined) this.#checkText(name);
      else if (field.required === true && !this.#fileNames.has(name)) throw missingParam(name);
    }
  }

  /** Facts common to all forms, overridden by `more`. Throws as `check`. */
  protected factsWith(more: Partial<RequestFacts> & Pick<RequestFacts, "inputEstimate">): FormFacts {
    this.check();
    const model = this.text("model");
    if (this.#modelSpan === null || model === null) throw missingParam("model");
    return {
      modelSpan: this.#modelSpan,
      facts: {
        model: checkedModelName(model),
        modelSpan: null,
        stream: this.isOn("stream"),
        wantsUsage: true,
        outputTokensMax: null,
        streamOptionsSpan: null,
        affinity: this.text("user") || null,
        continues: null,
        storesAs: null,
        images: 0,
        ...more,
      },
    };
  }

  /** Null if the field is absent or too long. */
  text(name: string): string | null {
    const field = this.#fields.get(name);
    return field === undefined || field.size > field.bytesMax ? null : field.text;
  }

  sizeOf(name: string): number {
    return this.#fields.get(name)?.size ?? 0;
  }

  isOn(name: string): boolean {
    const word = this.text(name)?.toLowerCase() ?? (this.sizeOf(name) > 0 ? "too long" : "");
    if (word === "true" || word === "1") return true;
    if (word === "" || word === "false" || word === "0") return false;
    throw invalid(name, "must be true or false");
  }

  #checkText(name: string): void {
    const field = this.#fields.get(name);
    if (field === undefined) return;
    const { table, bytesMax, size } = field;
    if (size === 0 && table.required === true) throw missingParam(name);
    if (table.type === "boolean") this.isOn(name);
    if (table.type !== "string" || size === 0 || bytesMax === 0) return;
    if (size > bytesMax) throw invalid(name, tooLong(table.maxLength ?? bytesMax));
    checkField(field.text, name, table);
  }

  #begin(head: PartHead, start: number): void {
    const bracket = head.name.indexOf("[");
    const name = bracket === -1 ? head.name : head.name.slice(0, bracket);
    const field = this.#fields.get(name);
    this.#inFile = field === undefined && head.filename !== null;
    if (this.#inFile) {
      this.files++;
      this.#beginFile(name, bracket !== -1);
    }
    if (field === undefined) {
      const governedName = this.#governed.variantOf(name);
      if (governedName !== null) throw misspelled(name, governedName);
      if (governedMembers.has(name) || governedMembers.has(head.name.replace("[", ".").replace("]", ""))) {
        throw invalid(name, "is not accepted in a form");
      }
      return;
    }
    if (bracket !== -1 || field.text !== null) throw invalid(name, "occurs more than once in the form, or as a list");
    if (head.filename !== null) throw invalid(name, "must be a field of the form, not a file");
    field.text = "";
    this.#open = { name, field, start };
  }

  #beginFile(name: string, isListed: boolean): void {
    if (this.#table[name]?.file === "one" && (isListed || this.#fileNames.has(name))) {
      throw invalid(name, "occurs more than once in the form, or as a list");
    }
    this.#fileNames.add(name);
  }

  #add(name: string, field: Field, bytes: Uint8Array): void {
    field.size += bytes.length;
    if (name === "prompt" && field.size > bounds.formTextBytesMax) {
      const why = `The prompt is larger than ${bounds.formTextBytesMax} bytes.`;
      throw new Failure("request_too_large", why, { param: "prompt" });
    }
    if (name === "model" && field.size > field.bytesMax) throw longModelName();
    // The chunk is reused by its owner.
    if (field.size <= field.bytesMax) field.pieces.push(Buffer.from(bytes));
  }

  #countFile(bytes: Uint8Array): void {
    this.fileBytes += bytes.length;
    const missing = fileBeginBytes - this.fileBegin.length;
    if (this.files === 1 && missing > 0) this.fileBegin = Buffer.concat([this.fileBegin, bytes.subarray(0, missing)]);
  }

  #close(end: number): void {
    this.#inFile = false;
    if (this.#open === null) return;
    const { name, field, start } = this.#open;
    this.#open = null;
    if (name === "model") this.#modelSpan = { start, end };
    field.text = decoder.decode(Buffer.concat(field.pieces));
    field.pieces = [];
  }
}

/** Only the size of the prompt is needed. */
export const modelFormBytesMax = { prompt: 0, user: bounds.affinityBytesMax } as const;

/** Null if nothing is kept. A character has at most four bytes. */
function textBytesMax({ file, type, enum: words, maxLength }: FormField): number | null {
  if (file !== undefined || type === undefined) return null;
  if (type === "boolean") return switchBytesMax;
  return Math.max(maxLength ?? 0, ...(words ?? []).map((word) => word.length), unboundedBytesMax) * 4;
}

const switchBytesMax = 16;
const unboundedBytesMax = 64;

/** Enough for the head of an audio file. */
const fileBeginBytes = 4_096;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
