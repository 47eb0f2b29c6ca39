import type { Edit } from "./bytes.ts";
import {
  CLOSE_ARRAY,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  skipSpace,
  stringEnd,
  valueEnd,
} from "./cursor.ts";
import { memberName } from "./names.ts";
import { readSpan } from "./scan.ts";

/** A member of an object: its value, and where its name begins. */
export interface MemberPlace extends Span {
  readonly name: string;
  readonly nameStart: number;
}

/**
 * Where the members of the object at `start` stand, those of one name each for itself; none when no object stands there.
 * For bodies whose grammar was checked.
 */
export function membersAt(bytes: Uint8Array, start: number): readonly MemberPlace[] {
  const members: MemberPlace[] = [];
  if (bytes[start] !== OPEN_OBJECT) return members;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] === QUOTE) {
    const nameStart = at;
    const nameEnd = stringEnd(bytes, at);
    const from = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = valueEnd(bytes, from);
    members.push({ name: memberName(bytes, nameStart, nameEnd), nameStart, start: from, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** Where the items of the array at `start` stand; none when no array stands there. */
export function itemsAt(bytes: Uint8Array, start: number): readonly Span[] {
  const items: Span[] = [];
  if (bytes[start] !== OPEN_ARRAY) return items;
  let at = skipSpace(bytes, start + 1);
  while (at < bytes.length && bytes[at] !== CLOSE_ARRAY) {
    const end = valueEnd(bytes, at);
    items.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) break;
    at = skipSpace(bytes, at + 1);
  }
  return items;
}

/** The string at a place, escapes read; null for anything else. */
export function stringAt(bytes: Uint8Array, { start, end }: Span): string | null {
  return bytes[start] === QUOTE ? String(readSpan(bytes, { start, end })) : null;
}

/**
 * Cuts that take places out of their list, each with one comma. `places` are all of the list in their order; what is
 * between those that stay keeps its bytes.
 */
export function cutsFrom<Place extends Span>(
  places: readonly Place[],
  gone: ReadonlySet<Place>,
  startOf: (place: Place) => number = ({ start }) => start,
): readonly Edit[] {
  const cuts: Edit[] = [];
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
