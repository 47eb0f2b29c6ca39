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
  let data: Uint8Array | null = null;
  let at = start;
  while (at < end) {
    const lineEnd = endOfLine(bytes, at, end);
    if (isField(bytes, at, dataField)) {
      const value = bytes.subarray(valueStart(bytes, at + dataField.length), lineEnd);
      data = data === null ? value : joined(data, value);
    } else if (isField(bytes, at, eventField)) {
      name = decoder.decode(bytes.subarray(valueStart(bytes, at + eventField.length), lineEnd));
    }
    at = lineEnd + 1;
  }
  return { name, data: data ?? noBytes };
}

const decoder = new TextDecoder();
const noBytes = new Uint8Array(0);
const dataField = Buffer.from("data:", "latin1");
const eventField = Buffer.from("event:", "latin1");
const LF = 0x0a;
const CR = 0x0d;
const longLine = 1024;

/** Of a CRLF the CR; the LF is then an empty line of its own, which carries nothing. */
function endOfLine(bytes: Uint8Array, from: number, end: number): number {
  const found = bytes.indexOf(LF, from);
  const limit = found === -1 || found > end ? end : found;
  if (limit - from > longLine) {
    const cr = bytes.subarray(from, limit).indexOf(CR);
    return cr === -1 ? limit : from + cr;
  }
  for (let at = from; at < limit; at++) if (bytes[at] === CR) return at;
  return limit;
}

function isField(bytes: Uint8Array, at: number, field: Uint8Array): boolean {
  for (let index = 0; index < field.length; index++) if (bytes[at + index] !== field[index]) return false;
  return true;
}

/** One blank behind the colon belongs to the field (HTML standard, 9.2.6). */
function valueStart(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0x20 ? at + 1 : at;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const out = new Uint8Array(first.length + 1 + second.length);
  out.set(first, 0);
  out[first.length] = LF;
  out.set(second, first.length + 1);
  return out;
}
