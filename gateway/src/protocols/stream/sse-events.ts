import { bounds, type Failure } from "#core/index.ts";
import type { StreamTap } from "../dialect.ts";
import { unsupportedReply } from "../errors/upstream-errors.ts";
import { COLON } from "../json/cursor.ts";

const LF = 0x0a;
const CR = 0x0d;
/** Most lines end within these; of longer ones the runtime searches windows that double, while they fit into a cache. */
const nearBytes = 1024;
const windowBytesMax = 64 * 1024;

/**
 * Where the next line end (LF or CR) stands in `bytes[from, end)`; -1 when there is none. What it looks at is at most a few
 * times the line, whichever of the two the stream uses: to search for one of them to the very end, line by line, would
 * take the square of the event.
 */
function lineEnd(bytes: Uint8Array, from: number, end: number): number {
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
function skipByteOrderMark(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at;
}

/** A text without the mark: a reader may pass over it (RFC 8259, 8.1), and some servers' whole answers begin with one. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const start = skipByteOrderMark(bytes, 0);
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
  let at = skipByteOrderMark(bytes, start);
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
const dataDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const emptyBytes = new Uint8Array(0);
const dataField = Buffer.from("data:", "latin1");
const eventField = Buffer.from("event:", "latin1");

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
  if (lines.length < 2) return lines[0] ?? emptyBytes;
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

/** From this size on a held event gets room to grow, and long lines are searched by the runtime. */
const largeEventBytes = 16 * 1024;

/**
 * Cuts a stream of bytes into whole server-sent events without decoding them. Lines may end in LF, CRLF or CR
 * (HTML standard, 9.2.5), also mixed, also when a chunk ends between CR and LF. An event that outgrows
 * `eventBytesMax` is a Failure, so that nothing is held without a bound. Its bytes are copied a bounded number of
 * times, however small the chunks it comes in.
 */
export class SseEvents {
  readonly #eventBytesMax: number;
  #held: Uint8Array = emptyBytes;
  /** The memory behind `#held` when it has room for more; only what lies behind the held bytes is ever written. */
  #buffer: Uint8Array = emptyBytes;

  constructor(eventBytesMax: number = bounds.eventBytesMax) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** The bytes that `cut` left behind: the beginning of an event, or nothing. */
  get held(): Uint8Array {
    return this.#held;
  }

  /** Adds a chunk; calls `visit` with each whole event, its blank line included; returns the joined bytes. */
  push(chunk: Uint8Array, visit: (bytes: Uint8Array, start: number, end: number) => void): Uint8Array {
    const bytes = this.#join(chunk);
    let from = this.#held.length > 3 ? this.#held.length - 3 : 0;
    let start = 0;
    for (;;) {
      const end = eventEnd(bytes, Math.max(from, start), start);
      if (end === -1) break;
      visit(bytes, start, end);
      start = end;
      from = end;
    }
    this.#held = start === bytes.length ? emptyBytes : bytes.subarray(start);
    if (this.#held.length > this.#eventBytesMax) {
      throw unsupportedReply(`The upstream sent an event of more than ${this.#eventBytesMax} bytes.`);
    }
    return start === bytes.length ? bytes : bytes.subarray(0, start);
  }

  /** The held bytes with the chunk behind them. Room doubles, so that an event of many pieces is not copied for each. */
  #join(chunk: Uint8Array): Uint8Array {
    const held = this.#held;
    if (held.length === 0) {
      this.#buffer = emptyBytes;
      return chunk;
    }
    const size = held.length + chunk.length;
    let start = held.byteOffset - this.#buffer.byteOffset;
    if (held.buffer !== this.#buffer.buffer || start + size > this.#buffer.length) {
      // Not cleared: to clear megabytes takes as long as to fill them, and only what was filled is given out.
      this.#buffer = Buffer.allocUnsafeSlow(
        size < largeEventBytes ? size : Math.max(size, Math.min(size * 2, this.#eventBytesMax)),
      );
      this.#buffer.set(held, 0);
      start = 0;
    }
    this.#buffer.set(chunk, start + held.length);
    return this.#buffer.subarray(start, start + size);
  }
}

/** What taps of events share: a stream is cut into events, which are looked at as they pass. */
export abstract class EventTap {
  events = 0;
  contentSeen = false;
  failure: Failure | null = null;
  outputEstimate = 0;

  protected readonly sse: SseEvents;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.inspect(bytes, start, end);

  /** Pictures, sounds and documents come whole, as base64. */
  constructor(eventBytesMax: number = bounds.imageEventBytesMax) {
    this.sse = new SseEvents(eventBytesMax);
  }

  protected abstract inspect(bytes: Uint8Array, start: number, end: number): void;

  push(chunk: Uint8Array): Uint8Array {
    return this.sse.push(chunk, this.#visit);
  }

  get held(): number {
    return this.sse.held.length;
  }

  rest(): Uint8Array {
    return emptyBytes;
  }
}

/** Index behind the next blank line at or after `from`, or -1. A CR at the very end may still become a CRLF. */
function eventEnd(bytes: Uint8Array, from: number, start: number): number {
  let at = from;
  for (;;) {
    at = lineEnd(bytes, at, bytes.length);
    if (at === -1) return -1;
    const afterFirst = lineEndLength(bytes, at);
    if (afterFirst === 0) return -1;
    const second = at + afterFirst;
    // A blank line at the very start of an event is a separator of its own.
    if (at === start) return second;
    const afterSecond = second < bytes.length ? lineEndLength(bytes, second) : 0;
    if (second < bytes.length && afterSecond > 0) return second + afterSecond;
    if (second >= bytes.length || bytes[second] === CR) return -1;
    at = second;
  }
}

/** 0: no line end here, or a CR whose LF may still come. */
function lineEndLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR) return 0;
  if (at + 1 === bytes.length) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

/** The payload of an event's data lines, joined by LF; empty for a comment. */
export function eventData(bytes: Uint8Array, start: number, end: number): string {
  // Only its data is decoded, once, and no line is looked for in the text.
  if (end - start > largeEventBytes) return dataDecoder.decode(eventLines(bytes, start, end).data);
  const text = decoder.decode(bytes.subarray(start, end));
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith("data:")) lines.push(line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5));
  }
  return lines.join("\n");
}

/**
 * An event from its first field on, or null for one that holds no data. Comments may stand ahead of its fields without a blank
 * line between, and a byte order mark ahead of a stream (HTML standard, 9.2.5).
 */
export function dataEvent(bytes: Uint8Array, start: number, end: number): Buffer | null {
  const from = firstField(bytes, start, end);
  const first = bytes[from];
  if (from >= end || first === LF || first === CR) return null;
  const event = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from);
  return first === LOWER_D || event.includes(dataField) ? event : null;
}

/** Where the first line of an event begins that is no comment. */
export function firstField(bytes: Uint8Array, start: number, end: number): number {
  let at = skipByteOrderMark(bytes, start);
  while (at < end && bytes[at] === COLON) {
    const stop = lineEnd(bytes, at, end);
    if (stop === -1) return end;
    at = stop + (bytes[stop] === CR && bytes[stop + 1] === LF ? 2 : 1);
  }
  return at;
}

const LOWER_D = 0x64;
