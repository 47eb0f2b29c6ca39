const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Cuts a stream of server-sent events into whole events with their blank lines. */
export class EventSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** Bytes of an event that has not ended. */
  get held(): number {
    return this.#rest.length;
  }

  push(piece: Uint8Array): Buffer[] {
    const bytes = this.#rest.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#rest, piece]);
    const events: Buffer[] = [];
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED, this.#searchedTo()); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
      if (!isBlankLine(bytes, from, at)) continue;
      events.push(bytes.subarray(from, at + 1));
      from = at + 1;
    }
    this.#rest = bytes.subarray(from);
    return events;
  }

  /** What is left at the end of the stream. */
  rest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  /** The last bytes may be the first half of a blank line. */
  #searchedTo(): number {
    return Math.max(0, this.#rest.length - 2);
  }
}

/** Whether the line that ends with the line feed at `at` is empty. */
function isBlankLine(bytes: Buffer, from: number, at: number): boolean {
  const last = bytes[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
  return last > from && bytes[last - 1] === LINE_FEED;
}

/** The range of the event's data if it is one line; null if it has none. */
export function dataRange(event: Buffer): { readonly start: number; readonly end: number } | null {
  let at = 0;
  let first = -1;
  let last = -1;
  while (at < event.length) {
    const feed = event.indexOf(LINE_FEED, at);
    const lineEnd = feed === -1 ? event.length : feed;
    const end = event[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd;
    if (event.toString("latin1", at, at + 5) === "data:") {
      if (first === -1) first = event[at + 5] === 0x20 ? at + 6 : at + 5;
      last = end;
    }
    at = lineEnd + 1;
  }
  return first === -1 ? null : { start: first, end: last };
}
