import { bounds, type Failure } from "#core/index.ts";
import { unsupportedReply } from "../errors/upstream-errors.ts";
import { asBuffer, decodeText, emptyBytes } from "../json/bytes.ts";
import { COLON } from "../json/cursor.ts";

const LF = 0x0a;
const CR = 0x0d;
/** Longer lines are searched by the runtime in doubling windows that fit into the cache. */
const nearBytes = 1024;
const windowBytesMax = 64 * 1024;

/**
 * Index of the next LF or CR in `bytes[from, end)`, or -1. Windows keep the search linear: searching the whole event for both would be
 * quadratic.
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

function skipByteOrderMark(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at;
}

/** Some servers begin a whole answer with a byte order mark, which RFC 8259, 8.1 lets readers skip. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const start = skipByteOrderMark(bytes, 0);
  return start === 0 ? bytes : bytes.subarray(start);
}

/** The name and data of one server-sent event. Data of a single line is not copied. */
export interface EventLines {
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
      name = decodeText(bytes.subarray(valueStart(bytes, at + eventField.length), stop));
    }
    at = stop + 1;
  }
  return { name, data: joined(data) };
}

const dataDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const dataField = Buffer.from("data:", "latin1");
const eventField = Buffer.from("event:", "latin1");

export function isDone(data: Uint8Array): boolean {
  return data.length < doneEventMax && decodeText(data).trim() === "[DONE]";
}

/** An event with only [DONE] is always shorter. */
const doneEventMax = 64;

/** For CRLF the CR; the LF then counts as an empty line. */
function endOfLine(bytes: Uint8Array, from: number, end: number): number {
  const found = lineEnd(bytes, from, end);
  return found === -1 ? end : found;
}

function isField(bytes: Uint8Array, at: number, field: Uint8Array): boolean {
  for (let index = 0; index < field.length; index++) if (bytes[at + index] !== field[index]) return false;
  return true;
}

/** One space after the colon is dropped (HTML standard, 9.2.6). */
function valueStart(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0x20 ? at + 1 : at;
}

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

/** Estimates tokens of a delta: one for short texts, else one per four bytes. */
export function pieceTokens(length: number): number {
  if (length <= 0) return 0;
  return length <= 16 ? 1 : Math.ceil(length / 4);
}

/** Larger events get spare memory, and their lines are searched by the runtime. */
const largeEventBytes = 16 * 1024;

/**
 * Splits a stream into whole server-sent events without decoding them. Lines end in LF, CRLF or CR (HTML standard, 9.2.5). Throws a
 * Failure for an event over `eventBytesMax`.
 */
export class SseEvents {
  readonly #eventBytesMax: number;
  #held: Uint8Array = emptyBytes;
  /** The memory of `#held`, with spare room after it for the next bytes. */
  #buffer: Uint8Array = emptyBytes;

  constructor(eventBytesMax: number = bounds.eventBytesMax) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** The beginning of an unfinished event. */
  get held(): Uint8Array {
    return this.#held;
  }

  /** Adds a chunk and calls `visit` with each whole event. Returns the bytes of those events. */
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

  /** The buffer doubles so that an event in many pieces is copied only a few times. */
  #join(chunk: Uint8Array): Uint8Array {
    const held = this.#held;
    if (held.length === 0) {
      this.#buffer = emptyBytes;
      return chunk;
    }
    const size = held.length + chunk.length;
    let start = held.byteOffset - this.#buffer.byteOffset;
    if (held.buffer !== this.#buffer.buffer || start + size > this.#buffer.length) {
      // Not zeroed: clearing megabytes takes as long as filling them.
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

/** Base of taps: splits a stream into events and inspects each. */
export abstract class EventTap {
  events = 0;
  contentSeen = false;
  failure: Failure | null = null;
  outputEstimate = 0;

  protected readonly sse: SseEvents;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.inspect(bytes, start, end);

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

/** Index after the next blank line, or -1. A CR at the end may still become CRLF. */
function eventEnd(bytes: Uint8Array, from: number, start: number): number {
  let at = from;
  for (;;) {
    at = lineEnd(bytes, at, bytes.length);
    if (at === -1) return -1;
    const afterFirst = lineEndLength(bytes, at);
    if (afterFirst === 0) return -1;
    const second = at + afterFirst;
    if (at === start) return second;
    const afterSecond = second < bytes.length ? lineEndLength(bytes, second) : 0;
    if (second < bytes.length && afterSecond > 0) return second + afterSecond;
    if (second >= bytes.length || bytes[second] === CR) return -1;
    at = second;
  }
}

/** 0 if there is no line end, or a CR whose LF may still come. */
function lineEndLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LF) return 1;
  if (bytes[at] !== CR) return 0;
  if (at + 1 === bytes.length) return 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

/** The data of an event as text; empty for a comment. */
export function eventData(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > largeEventBytes) return dataDecoder.decode(eventLines(bytes, start, end).data);
  const buffer = asBuffer(bytes) as Buffer & Utf8Buffer;
  let text: string | null = null;
  for (let at = skipByteOrderMark(bytes, start); at < end; ) {
    const stop = endOfLine(bytes, at, end);
    if (isField(bytes, at, dataField)) {
      const line = buffer.utf8Slice(valueStart(bytes, at + dataField.length), stop);
      text = text === null ? line : `${text}\n${line}`;
    }
    at = stop + 1;
  }
  return text ?? "";
}

/** A method of the runtime's Buffer that its types lack. It decodes a range without a view of it. */
interface Utf8Buffer {
  utf8Slice(from: number, to: number): string;
}

/** An event from its first field, or null without data. Comments and a byte order mark may precede it (HTML standard, 9.2.5). */
export function dataEvent(bytes: Uint8Array, start: number, end: number): Buffer | null {
  const from = firstField(bytes, start, end);
  const first = bytes[from];
  if (from >= end || first === LF || first === CR) return null;
  const isAll = end - from === bytes.length && Buffer.isBuffer(bytes);
  const event = isAll ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from);
  return first === LOWER_D || event.includes(dataField) ? event : null;
}

/** Index of the first line that is not a comment. */
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
