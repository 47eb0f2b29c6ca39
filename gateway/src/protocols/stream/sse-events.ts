import { bounds, type Failure } from "#core/index.ts";
import { notCarried } from "../errors/upstream-errors.ts";
import { COLON } from "../json/cursor.ts";
import { eventLines, lineEnd, pastMark } from "./event-lines.ts";

const LF = 0x0a;
const CR = 0x0d;
const emptyBytes = new Uint8Array(0);

/** From this size on a held event gets room to grow, and long lines are searched by the runtime. */
const large = 16 * 1024;

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
  #room: Uint8Array = emptyBytes;

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
      throw notCarried(`The upstream sent an event of more than ${this.#eventBytesMax} bytes.`);
    }
    return start === bytes.length ? bytes : bytes.subarray(0, start);
  }

  /** The held bytes with the chunk behind them. Room doubles, so that an event of many pieces is not copied for each. */
  #join(chunk: Uint8Array): Uint8Array {
    const held = this.#held;
    if (held.length === 0) {
      this.#room = emptyBytes;
      return chunk;
    }
    const size = held.length + chunk.length;
    let start = held.byteOffset - this.#room.byteOffset;
    if (held.buffer !== this.#room.buffer || start + size > this.#room.length) {
      // Not cleared: to clear megabytes takes as long as to fill them, and only what was filled is given out.
      this.#room = Buffer.allocUnsafeSlow(
        size < large ? size : Math.max(size, Math.min(size * 2, this.#eventBytesMax)),
      );
      this.#room.set(held, 0);
      start = 0;
    }
    this.#room.set(chunk, start + held.length);
    return this.#room.subarray(start, start + size);
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
  if (end - start > large) return dataDecoder.decode(eventLines(bytes, start, end).data);
  const text = decoder.decode(bytes.subarray(start, end));
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith("data:")) lines.push(line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5));
  }
  return lines.join("\n");
}

const decoder = new TextDecoder();
const dataDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

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
  let at = pastMark(bytes, start);
  while (at < end && bytes[at] === COLON) {
    const stop = lineEnd(bytes, at, end);
    if (stop === -1) return end;
    at = stop + (bytes[stop] === CR && bytes[stop + 1] === LF ? 2 : 1);
  }
  return at;
}

const LOWER_D = 0x64;
const dataField = Buffer.from("data:", "latin1");
