import { bounds, Failure } from "#core/index.ts";
import { concat } from "../json/bytes.ts";
import { readHeaderValue } from "./content-type.ts";

/** Offsets count from the first byte of the body. */
export type FormEvent =
  | { readonly kind: "part-start"; readonly head: PartHead; readonly start: number }
  /** Valid only as long as the chunk it came in. Never empty. */
  | { readonly kind: "part-data"; readonly bytes: Uint8Array }
  | { readonly kind: "part-end"; readonly end: number }
  /** The last boundary. */
  | { readonly kind: "end" };

type State = "preamble" | "after-boundary" | "head" | "body-start" | "body" | "epilogue";

/**
 * Splits a multipart/form-data body into parts as it arrives (RFC 2046, 5.1; RFC 7578). Holds only the head of a part and a possible
 * boundary. Throws Failure invalid_request for bodies that readers could split differently, request_too_large beyond a bound.
 */
export class MultipartScanner {
  readonly #delimiter: Buffer;
  #state: State = "preamble";
  // The first boundary may come at the very beginning, so a line break is assumed before it.
  #held: Uint8Array = Buffer.from("\r\n", "latin1");
  /** Offset of the first byte of `#held`. */
  #offset = -2;
  #at = 0;
  #parts = 0;
  #margin = 0;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  push(chunk: Uint8Array): FormEvent[] {
    const joined = concat(this.#held, chunk);
    const bytes = Buffer.from(joined.buffer, joined.byteOffset, joined.length);
    const events: FormEvent[] = [];
    this.#at = 0;
    while (this.#step(bytes, events)) {}
    this.#offset += this.#at;
    // Copied: the chunk is reused by its owner.
    this.#held = Buffer.from(bytes.subarray(this.#at));
    return events;
  }

  /** Throws Failure invalid_request if the form is incomplete. */
  end(): void {
    if (this.#state !== "epilogue") throw badForm("it ends before its last boundary");
  }

  /** False if more bytes are needed. The next step begins at `#at`. */
  #step(bytes: Buffer, events: FormEvent[]): boolean {
    switch (this.#state) {
      case "preamble":
      case "body":
        return this.#readBody(bytes, events);
      case "after-boundary":
        return this.#readAfterBoundary(bytes, events);
      case "head":
        return this.#readHead(bytes, events);
      case "body-start":
        return this.#readBodyStart(bytes);
      case "epilogue":
        return this.#readEpilogue(bytes);
    }
  }

  #readBody(bytes: Buffer, events: FormEvent[]): boolean {
    const from = this.#at;
    const found = bytes.indexOf(this.#delimiter, from);
    const to = found === -1 ? this.#maybeDelimiter(bytes, from) : found;
    if (this.#state === "preamble") this.#countMargin(to - from);
    else if (to > from) events.push({ kind: "part-data", bytes: bytes.subarray(from, to) });
    this.#at = to;
    if (found === -1) return false;
    if (this.#state === "body") events.push({ kind: "part-end", end: this.#offset + found });
    this.#at = found + this.#delimiter.length;
    this.#state = "after-boundary";
    return true;
  }

  /** The offset from which the bytes may be a partial delimiter. */
  #maybeDelimiter(bytes: Buffer, from: number): number {
    const last = bytes.lastIndexOf(CR);
    if (last < from || bytes.length - last >= this.#delimiter.length) return bytes.length;
    return this.#delimiter.subarray(0, bytes.length - last).equals(bytes.subarray(last)) ? last : bytes.length;
  }

  #readAfterBoundary(bytes: Buffer, events: FormEvent[]): boolean {
    if (bytes.length < this.#at + 2) return false;
    const first = bytes[this.#at];
    const second = bytes[this.#at + 1];
    if (first === CR && second === LF) {
      if (++this.#parts > bounds.formPartsMax) throw tooLarge(`more than ${bounds.formPartsMax} parts`);
      this.#state = "head";
    } else if (first === DASH && second === DASH) {
      if (this.#parts === 0) throw badForm("it has no parts");
      events.push({ kind: "end" });
      this.#state = "epilogue";
      this.#margin = 0;
    } else {
      throw badForm("the boundary is followed by something else");
    }
    this.#at += 2;
    return true;
  }

  #readHead(bytes: Buffer, events: FormEvent[]): boolean {
    const found = bytes.indexOf(headEnd, this.#at);
    const size = (found === -1 ? bytes.length : found) - this.#at;
    if (size > bounds.formHeadBytesMax) throw tooLarge(`a part with more than ${bounds.formHeadBytesMax} header bytes`);
    if (found === -1) return false;
    const head = readPartHead(bytes.subarray(this.#at, found));
    events.push({ kind: "part-start", head, start: this.#offset + found + headEnd.length });
    // Keep the line break: other readers would find a boundary right after it.
    this.#at = found + 2;
    this.#state = "body-start";
    return true;
  }

  #readBodyStart(bytes: Buffer): boolean {
    const begin = bytes.subarray(this.#at, this.#at + this.#delimiter.length);
    if (this.#delimiter.subarray(0, begin.length).equals(begin)) {
      if (begin.length < this.#delimiter.length) return false;
      throw badForm("a part has no body");
    }
    this.#at += 2;
    this.#state = "body";
    return true;
  }

  #readEpilogue(bytes: Buffer): boolean {
    const begin = bytes.subarray(this.#at, this.#at + 2);
    if (this.#margin === 0 && begin.length === 1 && begin[0] === CR) return false;
    if (this.#margin === 0 && begin.length > 0 && !(begin[0] === CR && begin[1] === LF)) {
      throw badForm("the last boundary is followed by something else");
    }
    this.#countMargin(bytes.length - this.#at);
    this.#at = bytes.length;
    return false;
  }

  #countMargin(size: number): void {
    this.#margin += size;
    if (this.#margin <= bounds.formMarginBytesMax) return;
    throw tooLarge(`more than ${bounds.formMarginBytesMax} bytes outside its parts`);
  }
}

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const headEnd = Buffer.from("\r\n\r\n", "latin1");

function tooLarge(what: string): Failure {
  return new Failure("request_too_large", `The form has ${what}.`);
}

export interface PartHead {
  readonly name: string;
  /** Null for a field. */
  readonly filename: string | null;
  readonly contentType: string | null;
}

/**
 * Parses the header lines of a part (RFC 7578, 4.2). Refuses what readers could understand differently: folded lines, bare line ends,
 * duplicate headers, escaped names, encoded values.
 */
function readPartHead(bytes: Uint8Array): PartHead {
  const headers = new Map<string, string>();
  for (const line of decoder.decode(bytes).split("\r\n")) {
    const match = linePattern.exec(line);
    if (match === null) throw badForm("a part has a header line that is not valid");
    const name = (match[1] ?? "").toLowerCase();
    if (headers.has(name) && knownHeaders.has(name)) throw badForm(`a part has two ${name} headers`);
    headers.set(name, trimmed(match[2] ?? ""));
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!plainEncodings.has(encoding)) throw badForm("a part has a content-transfer-encoding, which is not accepted");
  const disposition = readHeaderValue(headers.get("content-disposition") ?? "");
  const name = disposition?.params.get("name");
  if (disposition?.word !== "form-data" || name === undefined) throw badForm("a part has no name");
  if (name.escaped || disposition.params.has("name*")) throw badForm("a part's name contains escapes");
  const filename = disposition.params.get("filename") ?? disposition.params.get("filename*");
  return { name: name.value, filename: filename?.value ?? null, contentType: headers.get("content-type") ?? null };
}

function badForm(why: string): Failure {
  return new Failure("invalid_request", `The form is not valid: ${why}.`);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const knownHeaders: ReadonlySet<string> = new Set(["content-disposition", "content-type", "content-transfer-encoding"]);
const plainEncodings: ReadonlySet<string> = new Set(["7bit", "8bit", "binary"]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a line
const linePattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\u0000-\u0008\u000a-\u001f\u007f]*)$/;

/** A pattern would backtrack on many blanks in the middle. */
function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
