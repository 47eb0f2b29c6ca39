import { type Fields, readFields, refuseStray } from "./fields.ts";
import { MalformedMessage } from "./malformed.ts";

/** How the end of a body is found. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "close" };

interface Head {
  readonly headers: Fields;
  readonly framing: Framing;
  /** Whether another message may follow on this connection. */
  readonly persistent: boolean;
}

export interface ResponseHead extends Head {
  readonly status: number;
}

export interface RequestHead extends Head {
  /**
   * The same object for heads of a connection that differ only in the digits of their content length: a key for what was derived from
   * the head.
   */
  readonly template: object;
  readonly method: string;
  /** As sent. */
  readonly target: string;
  /** HTTP/1.0 callers understand neither chunks nor interim responses. */
  readonly minor: 0 | 1;
}

const none: Framing = { kind: "none" };
const chunked: Framing = { kind: "chunked" };
const close: Framing = { kind: "close" };
const lengthPattern = /^\d{1,15}$/;
const statusLinePattern = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?$/;
/** A path, an absolute URL, or `*`. CONNECT is not supported. */
const requestLinePattern =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\/[\x21-\x7e]*|\*|[hH][tT][tT][pP][sS]?:\/\/(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:[/?][\x21-\x7e]*)?) HTTP\/1\.([01])$/;
const otherVersionPattern = / HTTP\/(?:0\.\d|1\.[2-9]|[2-9](?:\.\d)?)$/;

/** `text`: the lines of the head with their ends. `bodyless`: the response to HEAD. Throws MalformedMessage. */
export function readResponseHead(text: string, fieldsMax: number, bodyless: boolean): ResponseHead {
  refuseStray(text);
  const end = text.indexOf("\r\n");
  const { status, minor } = text.startsWith(usualStatusLine) ? usualStatus : readStatusLine(text.slice(0, end));
  const headers = readFields(text, end + 2, fieldsMax);
  const declared = framingOf(headers, minor) ?? close;
  const empty = bodyless || status < 200 || status === 204 || status === 304;
  const framing = empty ? none : declared;
  return { status, headers, framing, persistent: framing !== close && persists(headers, minor) };
}

/** The usual first line. */
const usualStatusLine = "HTTP/1.1 200 OK\r\n";
const usualStatus = { status: 200, minor: 1 } as const;

function readStatusLine(text: string): { readonly status: number; readonly minor: 0 | 1 } {
  const line = statusLinePattern.exec(text);
  if (line === null) throw new MalformedMessage("syntax", "The status line is malformed.");
  return { status: Number(line[2]), minor: line[1] === "1" ? 1 : 0 };
}

/** Reads the head of a request. Without a length or chunks it has no body. Throws MalformedMessage. */
export function readRequestHead(text: string, fieldsMax: number): RequestHead {
  refuseStray(text);
  const end = text.indexOf("\r\n");
  const { method, target, minor } = requestLineOf(text.slice(0, end));
  const headers = readFields(text, end + 2, fieldsMax);
  const framing = framingOf(headers, minor) ?? none;
  return { method, target, minor, headers, template: {}, framing, persistent: persists(headers, minor) };
}

/** The last head of a connection. Most clients repeat it with another content length, so the next one is not parsed again. */
export class LastHead {
  readonly #text: string;
  readonly #head: RequestHead;
  /** The text around the digits of the content length; null if there is none. */
  readonly #around: readonly [before: string, after: string] | null;

  constructor(text: string, head: RequestHead) {
    const at = head.framing.kind === "length" ? contentLengthPattern.exec(text) : null;
    const from = at === null ? 0 : at.index + (at[1] ?? "").length;
    this.#text = text;
    this.#head = head;
    this.#around = at === null ? null : [text.slice(0, from), text.slice(from + (at[2] ?? "").length)];
  }

  /** null if it is another head, which has to be parsed. */
  again(text: string): RequestHead | null {
    if (text === this.#text) return this.#head;
    if (this.#around === null || text.length !== this.#text.length) return null;
    const [before, after] = this.#around;
    if (!text.startsWith(before) || !text.endsWith(after)) return null;
    const length = text.slice(before.length, text.length - after.length);
    if (!lengthPattern.test(length)) return null;
    const headers = this.#head.headers.within(text);
    return { ...this.#head, headers, framing: { kind: "length", bytes: Number(length) } };
  }
}

const contentLengthPattern = /(\r\ncontent-length:[\t ]*)(\d{1,15})[\t ]*\r\n/i;

type RequestLine = Pick<RequestHead, "method" | "target" | "minor">;

/** Caches the few lines that most requests begin with. */
function requestLineOf(text: string): RequestLine {
  const cached = cachedLines.get(text);
  if (cached !== undefined) return cached;
  const line = readRequestLine(text);
  // A query may hold a secret.
  if (cachedLines.size < cachedLinesMax && text.length <= cachedLineLengthMax && !text.includes("?")) {
    // A slice would keep the whole head in memory.
    cachedLines.set(Buffer.from(text, "latin1").toString("latin1"), line);
  }
  return line;
}

const cachedLines = new Map<string, RequestLine>();
const cachedLinesMax = 100;
const cachedLineLengthMax = 256;

function readRequestLine(text: string): RequestLine {
  const line = requestLinePattern.exec(text);
  if (line === null) {
    if (otherVersionPattern.test(text)) throw new MalformedMessage("version", "Only HTTP/1.1 is supported.");
    throw new MalformedMessage("syntax", "The request line is malformed.");
  }
  const [, method = "", target = ""] = line;
  return { method, target, minor: line[3] === "1" ? 1 : 0 };
}

/** null: no field determines it. Ambiguous fields are refused (RFC 9112 §6.1, §6.3). */
function framingOf(headers: Fields, minor: 0 | 1): Framing | null {
  const length = headers.first("content-length");
  const coding = headers.first("transfer-encoding");
  if (headers.hasSeveral("content-length")) throw new MalformedMessage("framing", "There are two content lengths.");
  if (headers.hasSeveral("transfer-encoding")) throw new MalformedMessage("framing", "There are two transfer codings.");
  if (coding !== null) {
    if (length !== null) throw new MalformedMessage("framing", "There are a content length and a transfer coding.");
    if (minor === 0) throw new MalformedMessage("framing", "HTTP/1.0 has no transfer codings.");
    if (coding.toLowerCase() !== "chunked") throw new MalformedMessage("framing", "The transfer coding is unknown.");
    return chunked;
  }
  if (length === null) return null;
  if (!lengthPattern.test(length)) throw new MalformedMessage("framing", "The content length is not a number.");
  return { kind: "length", bytes: Number(length) };
}

function persists(headers: Fields, minor: 0 | 1): boolean {
  if (headers.hasToken("connection", "close")) return false;
  return minor === 1 || headers.hasToken("connection", "keep-alive");
}
