import { bounds, Failure } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import { choosingMembers, GovernedNames } from "../governed-names.ts";
import type { Span } from "../json-scan.ts";
import { missing, misspelt, wrong } from "../json-value.ts";
import type { PartHead } from "../multipart-head.ts";
import type { FormEvent } from "../multipart-scanner.ts";
import { promptEstimate } from "./request.ts";

/** What governs a form that asks for edited pictures, and where in the body its model's name stands. */
export interface ImagesFormFacts {
  readonly facts: RequestFacts;
  readonly modelSpan: Span;
}

/** A field whose text is kept, and how much of it. */
interface Field {
  readonly bytesMax: number;
  text: string | null;
  size: number;
  pieces: Uint8Array[];
}

/**
 * Collects the facts of a form while it is scanned, wherever its fields stand; files are passed over. A field that
 * governs must be there once, as a field: what two readers could read in two ways is refused.
 */
export class ImagesFormReader {
  readonly #fields: ReadonlyMap<string, Field> = new Map([
    ["model", newField(bounds.modelNameBytesMax)],
    // Only the prompt's size is of interest.
    ["prompt", newField(0)],
    ["stream", newField(16)],
    ["n", newField(15)],
    ["user", newField(bounds.affinityBytesMax)],
  ]);
  #open: { readonly name: string; readonly field: Field; readonly start: number } | null = null;
  #modelSpan: Span | null = null;

  take(event: FormEvent): void {
    switch (event.kind) {
      case "part-start":
        this.#begin(event.head, event.start);
        return;
      case "part-data":
        if (this.#open !== null) this.#add(this.#open.name, this.#open.field, event.bytes);
        return;
      case "part-end":
        this.#close(event.end);
        return;
      case "end":
    }
  }

  /** Once the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): ImagesFormFacts {
    const model = this.#text("model");
    if (this.#modelSpan === null || model === null || model === "") throw missing("model");
    const prompt = this.#fields.get("prompt");
    if (prompt === undefined || prompt.size === 0) throw missing("prompt");
    return {
      modelSpan: this.#modelSpan,
      facts: {
        model,
        modelSpan: null,
        stream: readSwitch(this.#text("stream")),
        wantsUsage: true,
        outputTokensMax: null,
        inputEstimate: promptEstimate(prompt.size),
        streamOptionsSpan: null,
        affinity: this.#text("user") || null,
        continues: null,
        keeps: false,
        images: readImages(this.#text("n")),
      },
    };
  }

  #begin(head: PartHead, start: number): void {
    const bracket = head.name.indexOf("[");
    const name = bracket === -1 ? head.name : head.name.slice(0, bracket);
    const field = this.#fields.get(name);
    if (field === undefined) {
      const meant = governed.variantOf(name);
      if (meant !== null) throw misspelt(name, meant);
      if (choosingMembers.has(name)) throw wrong(name, "is not taken in a form");
      return;
    }
    if (bracket !== -1 || field.text !== null) throw wrong(name, "stands in the form more than once, or as a list");
    if (head.filename !== null) throw wrong(name, "must be a field of the form, not a file");
    field.text = "";
    this.#open = { name, field, start };
  }

  #add(name: string, field: Field, bytes: Uint8Array): void {
    field.size += bytes.length;
    if (name === "prompt" && field.size > bounds.formTextBytesMax) throw tooLongPrompt();
    if (name === "model" && field.size > field.bytesMax) throw wrong(name, "is longer than any model's name");
    // The chunk is not ours to keep.
    if (field.size <= field.bytesMax) field.pieces.push(Buffer.from(bytes));
  }

  #close(end: number): void {
    if (this.#open === null) return;
    const { name, field, start } = this.#open;
    this.#open = null;
    if (name === "model") this.#modelSpan = { start, end };
    field.text = decoder.decode(Buffer.concat(field.pieces));
    field.pieces = [];
  }

  /** null for a field that is absent or longer than it can be. */
  #text(name: string): string | null {
    const field = this.#fields.get(name);
    return field === undefined || field.size > field.bytesMax ? null : field.text;
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const governed = new GovernedNames(["model", "prompt", "stream", "n", "user", ...choosingMembers]);

function newField(bytesMax: number): Field {
  return { bytesMax, text: null, size: 0, pieces: [] };
}

/** Clients write a boolean in a form in one of these ways. */
function readSwitch(text: string | null): boolean {
  const word = text?.toLowerCase() ?? "";
  if (word === "true" || word === "1") return true;
  if (word === "" || word === "false" || word === "0") return false;
  throw wrong("stream", "must be true or false");
}

/** A count that governs a reservation; anything else is the upstream's to judge. */
function readImages(text: string | null): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Math.max(1, Number(text)) : 1;
}

function tooLongPrompt(): Failure {
  return new Failure("request_too_large", `The prompt is larger than ${bounds.formTextBytesMax} bytes.`, {
    param: "prompt",
  });
}
