import { MultipartScanner, readMultipartType } from "#protocols/index.ts";
import type { PassedField } from "#relay/index.ts";
import type { CallRequest } from "./call-request.ts";
import { requirePlain } from "./form-body-reader.ts";

/**
 * Keeps the fields of a form that is passed through, while it goes into the spool: they may name objects. Of files nothing is kept.
 * Throws Failure invalid_request, unsupported_media_type or request_too_large for a form that another reader could read otherwise.
 */
export class FormTexts {
  readonly fields: PassedField[] = [];
  readonly #scanner: MultipartScanner;
  #name: string | null = null;
  #pieces: Uint8Array[] = [];
  #size = 0;

  /** Throws Failure. */
  constructor({ headers }: Pick<CallRequest, "headers">) {
    requirePlain(headers);
    this.#scanner = new MultipartScanner(readMultipartType(headers.get("content-type"), "Send a form.").boundary);
  }

  readonly push = (piece: Uint8Array): void => {
    for (const event of this.#scanner.push(piece)) {
      if (event.kind === "part-start") this.#name = event.head.filename === null ? event.head.name : null;
      else if (event.kind === "part-data" && this.#name !== null) this.#keep(event.bytes);
      else if (event.kind === "part-end") this.#close();
    }
  };

  readonly end = (): void => this.#scanner.end();

  #keep(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size <= fieldBytesMax) this.#pieces.push(bytes.slice());
    else this.#pieces = [];
  }

  #close(): void {
    if (this.#name !== null) {
      const text = this.#size > fieldBytesMax ? null : Buffer.concat(this.#pieces).toString();
      this.fields.push({ name: this.#name, text });
    }
    this.#name = null;
    this.#pieces = [];
    this.#size = 0;
  }
}

/** Longer than any field that names an object. */
const fieldBytesMax = 64 * 1024;

/** Whether a body is a form, by what its head says. */
export function isForm({ headers }: Pick<CallRequest, "headers">): boolean {
  return /^multipart\/form-data(?![^\s;])/i.test(headers.get("content-type") ?? "");
}
