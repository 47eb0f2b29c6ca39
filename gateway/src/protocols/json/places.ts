import type { Span } from "./scan.ts";
import { valueEnd } from "./walk.ts";

/** A member of an object: its value, and where its name begins. */
export interface MemberPlace extends Span {
  readonly name: string;
  readonly nameStart: number;
}

/**
 * Where the members of the object at `start` stand, those of one name each for itself; none when no object stands there.
 * For bodies whose grammar was checked.
 */
export function membersAt(bytes: Buffer, start: number): readonly MemberPlace[] {
  const members: MemberPlace[] = [];
  if (bytes[start] !== OPEN_OBJECT) return members;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] === QUOTE) {
    const nameStart = at;
    const nameEnd = valueEnd(bytes, at);
    const from = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = endOf(bytes, from);
    members.push({ name: memberName(bytes, nameStart, nameEnd), nameStart, start: from, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** Where the items of the array at `start` stand; none when no array stands there. */
export function itemsAt(bytes: Buffer, start: number): readonly Span[] {
  const items: Span[] = [];
  if (bytes[start] !== OPEN_ARRAY) return items;
  let at = skipSpace(bytes, start + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_ARRAY) {
    const end = endOf(bytes, at);
    items.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  return items;
}

/** Where the first value begins. */
export function firstValueAt(bytes: Buffer): number {
  return skipSpace(bytes, 0);
}

/** The string at a place, escapes read; null for anything else. */
export function stringAt(bytes: Buffer, { start, end }: Span): string | null {
  return bytes[start] === QUOTE ? String(JSON.parse(bytes.toString("utf8", start, end))) : null;
}

/**
 * Cuts that take places out of their list, each with one comma. `places` are all of the list in their order; what is
 * between those that stay keeps its bytes.
 */
export function cutsFrom<Place extends Span>(
  places: readonly Place[],
  gone: ReadonlySet<Place>,
  startOf: (place: Place) => number = ({ start }) => start,
): readonly Cut[] {
  const cuts: Cut[] = [];
  let from = 0;
  while (from < places.length) {
    const first = places[from] as Place;
    if (!gone.has(first)) {
      from++;
      continue;
    }
    let to = from;
    while (to + 1 < places.length && gone.has(places[to + 1] as Place)) to++;
    const next = places[to + 1];
    const before = places[from - 1];
    if (next !== undefined) cuts.push({ start: startOf(first), end: startOf(next), text: "" });
    else cuts.push({ start: before?.end ?? startOf(first), end: (places[to] as Place).end, text: "" });
    from = to + 1;
  }
  return cuts;
}

/** A part of the bytes, and what comes in its place. */
export interface Cut extends Span {
  readonly text: string;
}

/** Behind the value that begins at `start`. */
function endOf(bytes: Buffer, start: number): number {
  const end = valueEnd(bytes, start);
  if (end > start) return end;
  // Numbers and words end at what cannot stand in them.
  let at = start;
  while (at < bytes.length && !delimiters.has(bytes[at] as number)) at++;
  return at;
}

/** No name that anybody looks for is this long. */
const nameBytesMax = 512;

function memberName(bytes: Buffer, start: number, end: number): string {
  return end - start > nameBytesMax ? "" : String(JSON.parse(bytes.toString("utf8", start, end)));
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at++;
  return at;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
/** Comma, brackets and white space. */
const delimiters: ReadonlySet<number> = new Set([COMMA, CLOSE_ARRAY, 0x7d, 0x20, 0x0a, 0x0d, 0x09]);
