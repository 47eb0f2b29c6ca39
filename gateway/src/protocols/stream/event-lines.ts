import type { StreamTap } from "../dialect.ts";

const CR = 0x0d;
/** Most lines end within these; of longer ones the runtime searches windows that double, while they fit into a cache. */
const nearBytes = 1024;
const windowBytesMax = 64 * 1024;

/**
 * Where the next line end (LF or CR) stands in `bytes[from, end)`; -1 when there is none. What it looks at is at most a few
 * times the line, whichever of the two the stream uses: to search for one of them to the very end, line by line, would
 * take the square of the event.
 */
export function lineEnd(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(end, from + nearBytes);
  for (let at = from; at < near; at++) if (bytes[at] === LF || bytes[at] === CR) return at;
  let start = near;
  for (let size = nearBytes * 2; start < end; size = Math.min(size * 2, windowBytesMax)) {
    const window = bytes.subarray(start, Math.min(end, start + size));
    const lf = window.indexOf(LF);
    const cr = (lf === -1 ? window : window.subarray(0, lf)).indexOf(CR);
    const found = cr === -1 ? lf : cr;
    if (found !== -1) return start + found;
    start += window.length;
  }
  return -1;
}

/** Behind the byte order mark that stands there, if one does. */
export function pastMark(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at;
}

/** A text without the mark: a reader may pass over it (RFC 8259, 8.1), and some servers' whole answers begin with one. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  const start = pastMark(bytes, 0);
  return start === 0 ? bytes : bytes.subarray(start);
}

/**
 * What a whole server-sent event carries, as bytes: its name, and its data lines joined by LF. The data of one line is
 * not copied, so that an event of megabytes costs no more than the search for its line ends.
 */
export interface EventLines {
  /** Empty when the event has none. */
  readonly name: string;
  /** Empty for a comment. */
  readonly data: Uint8Array;
}

export function eventLines(bytes: Uint8Array, start: number, end: number): EventLines {
  let name = "";
  const data: Uint8Array[] = [];
  let at = pastMark(bytes, start);
  while (at < end) {
    const stop = endOfLine(bytes, at, end);
    if (isField(bytes, at, dataField)) {
      data.push(bytes.subarray(valueStart(bytes, at + dataField.length), stop));
    } else if (isField(bytes, at, eventField)) {
      name = decoder.decode(bytes.subarray(valueStart(bytes, at + eventField.length), stop));
    }
    at = stop + 1;
  }
  return { name, data: joined(data) };
}

const decoder = new TextDecoder();
const noBytes = new Uint8Array(0);
const dataField = Buffer.from("data:", "latin1");
const eventField = Buffer.from("event:", "latin1");
const LF = 0x0a;

/** The last event of dialects of OpenAI's family, which holds nothing. */
export function isDone(data: Uint8Array): boolean {
  return data.length < doneEventMax && decoder.decode(data).trim() === "[DONE]";
}

/** Longer than a last event can be when it is only [DONE]. */
const doneEventMax = 64;

/** Of a CRLF the CR; the LF is then an empty line of its own, which carries nothing. */
function endOfLine(bytes: Uint8Array, from: number, end: number): number {
  const found = lineEnd(bytes, from, end);
  return found === -1 ? end : found;
}

function isField(bytes: Uint8Array, at: number, field: Uint8Array): boolean {
  for (let index = 0; index < field.length; index++) if (bytes[at + index] !== field[index]) return false;
  return true;
}

/** One blank behind the colon belongs to the field (HTML standard, 9.2.6). */
function valueStart(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0x20 ? at + 1 : at;
}

/** One line is not copied; of several each is copied once. */
function joined(lines: readonly Uint8Array[]): Uint8Array {
  if (lines.length < 2) return lines[0] ?? noBytes;
  const out = new Uint8Array(lines.reduce((size, line) => size + line.length + 1, -1));
  let at = 0;
  for (const line of lines) {
    out.set(line, at);
    at += line.length;
    if (at < out.length) out[at++] = LF;
  }
  return out;
}

/**
 * Has `tap` listen to a stream in AWS's framing, turned into server-sent events. Few upstreams frame their streams so: the
 * format's library is loaded with the first of them.
 */
export async function tapAwsEventStream(tap: StreamTap): Promise<StreamTap> {
  const { AwsEventStream } = await import("./aws-event-stream.ts");
  const framing = new AwsEventStream();
  const push = tap.push.bind(tap);
  tap.push = (chunk) => push(framing.push(chunk));
  return tap;
}

/** Output is generated a token or a few at an event: short pieces count one, longer ones a token per four bytes. */
export function pieceTokens(length: number): number {
  if (length <= 0) return 0;
  return length <= 16 ? 1 : Math.ceil(length / 4);
}
