const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Cuts a stream of server-sent events into whole events with their blank lines. Lines may end with LF, CR LF or CR. */
export class EventSplitter {
  #rest: Buffer = Buffer.alloc(0);
  /** Up to here, `#rest` has no blank line. */
  #searched = 0;
  /** Start of the line at `#searched`. */
  #line = 0;

  /** Bytes of an event that has not ended. */
  get held(): number {
    return this.#rest.length;
  }

  push(piece: Uint8Array): Buffer[] {
    const bytes = this.#rest.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#rest, piece]);
    const events: Buffer[] = [];
    let from = 0;
    let line = this.#line;
    let at = this.#searched;
    for (; ; at++) {
      at = lineEnd(bytes, at);
      // The line feed after a carriage return may be in the next piece.
      if (at >= bytes.length || (bytes[at] === CARRIAGE_RETURN && at + 1 === bytes.length)) break;
      const isBlank = at === line && line > from;
      if (bytes[at] === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED) at++;
      line = at + 1;
      if (!isBlank) continue;
      events.push(bytes.subarray(from, line));
      from = line;
    }
    this.#rest = bytes.subarray(from);
    this.#searched = Math.min(at, bytes.length) - from;
    this.#line = line - from;
    return events;
  }

  /** The bytes after the last event, at the end of the stream. */
  rest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    this.#searched = 0;
    this.#line = 0;
    return rest;
  }
}

/** Index of the next line feed or carriage return, or the length. */
function lineEnd(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(LINE_FEED, from);
  const end = feed === -1 ? bytes.length : feed;
  const carriage = bytes.subarray(from, end).indexOf(CARRIAGE_RETURN);
  return carriage === -1 ? end : from + carriage;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The data of an event. */
export interface EventData {
  /** The bytes from `start`, with white space for the line breaks between several lines. */
  readonly data: Buffer;
  readonly start: number;
  /** Lines of comments and of other fields. */
  readonly others: readonly Range[];
}

export function dataOf(event: Buffer): EventData {
  let data = event;
  const others: Range[] = [];
  let start = -1;
  let last = 0;
  for (let at = isMarked(event) ? byteOrderMark.length : 0; at < event.length; ) {
    const end = lineEnd(event, at);
    if (event.toString("latin1", at, at + 5) === "data:") {
      const from = event[at + 5] === 0x20 ? at + 6 : at + 5;
      if (start === -1) start = from;
      else {
        // JSON allows white space between its values, where alone a line can break.
        if (data === event) data = Buffer.from(event);
        data.fill(0x20, last, from);
      }
      last = end;
    } else if (end > at) others.push({ start: at, end });
    at = end + 1;
  }
  return start === -1
    ? { data: event.subarray(0, 0), start: 0, others }
    : { data: data.subarray(start, last), start, others };
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function isMarked(bytes: Buffer): boolean {
  return bytes.subarray(0, 3).equals(byteOrderMark);
}
