import { isAscii } from "node:buffer";
import { bounds } from "#core/index.ts";
import { asBuffer } from "../json/bytes.ts";
import { BACKSLASH, COLON, closingQuote, QUOTE } from "../json/cursor.ts";
import { eventLines } from "./sse-events.ts";

/**
 * The JSON of an event with its pictures and other media set aside: what is left is small, and is searched and parsed in the
 * place of megabytes.
 */
export interface EventWithoutMedia {
  readonly data: Uint8Array;
  /** What was taken out and may be wanted, in order: the rest of a string whose first characters, and a mark, are still in `data`. */
  readonly media: readonly Uint8Array[];
}

interface StringPlace {
  readonly end: number;
  readonly length: number;
}

/** A shorter string costs less to build than to set aside. */
const mediaBytesMin = 16 * 1024;
/** Stays, so that the type of a data URI or a picture can still be read. */
const headBytes = 256;

/**
 * Sets aside the media in an event's JSON: long strings of ASCII without escapes that are the value of a member in
 * `mediaMembers`. Such a string is the same in every JSON text that it is put into. `markOf` names what was taken out.
 * Looks at no more than `jsonBytesMax` bytes beside media: null when there are more.
 */
export function setMediaAside(
  data: Uint8Array,
  jsonBytesMax: number,
  markOf: (index: number) => string,
): EventWithoutMedia | null {
  const json = asBuffer(data);
  const media: Uint8Array[] = [];
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let from = 0;
  /** The name, if the next string is the value of a member. */
  let before: StringPlace = { end: 0, length: 0 };
  // Between strings the next quote opens one.
  for (let at = closingQuote(json, 0); at < json.length; ) {
    if (keptBytes + at - from > jsonBytesMax) return null;
    const start = at + 1;
    let end = shortStringEnd(json, start);
    const name = end === -1 ? mediaName(json, before, start) : null;
    if (end === -1) {
      // What is not media ends within what may still be there of it.
      const room = name === null ? json.subarray(0, from + jsonBytesMax - keptBytes) : json;
      end = closingQuote(room, start);
      if (end === room.length && room.length < json.length) return null;
    }
    if (name !== null && end - start >= mediaBytesMin && isMedia(json, name, start, end)) {
      const cut = start + headBytes;
      const isRead = !discarded.has(name);
      const mark = Buffer.from(isRead ? markOf(media.length) : "", "latin1");
      if (isRead) media.push(json.subarray(cut, end));
      kept.push(json.subarray(from, cut), mark);
      keptBytes += cut - from + mark.length;
      from = end;
    }
    before = { end, length: end - start };
    at = closingQuote(json, end + 1);
  }
  if (keptBytes + json.length - from > jsonBytesMax) return null;
  if (kept.length === 0) return { data, media };
  kept.push(json.subarray(from));
  return { data: Buffer.concat(kept), media };
}

/** Most strings are short, and a call of the runtime's search costs more than a few steps. -1: this one is longer. */
function shortStringEnd(json: Buffer, start: number): number {
  for (let at = start; at < start + shortBytes; at++) {
    if (json[at] === QUOTE) return at;
    if (json[at] === BACKSLASH) at++;
  }
  return -1;
}

/** An event without its media, for looking at it. null: it is not large, or holds none. */
export function eventWithoutMedia(bytes: Uint8Array, start: number, end: number): Buffer | null {
  if (end - start <= bounds.builtEventBytesMax) return null;
  const { name, data } = eventLines(bytes, start, end);
  const small = dataWithoutMedia(data);
  if (small === data) return null;
  return Buffer.concat([Buffer.from(`${name === "" ? "" : `event: ${name}\n`}data: `), small, blankLine]);
}

/** The data of an event, without media where it is large. */
export function dataWithoutMedia(data: Uint8Array): Uint8Array {
  if (data.length <= bounds.builtEventBytesMax) return data;
  return setMediaAside(data, bounds.eventJsonBytesMax, noMark)?.data ?? data;
}

/** The member whose value the string is that starts there, where such a member may hold media; else null. */
function mediaName(json: Buffer, before: StringPlace, start: number): string | null {
  if (before.length > nameLengthMax) return null;
  for (let at = before.end + 1; at < start - 1; at++) if (json[at] !== COLON && json[at] !== BLANK) return null;
  const name = json.toString("latin1", before.end - before.length, before.end);
  return mediaMembers.has(name) ? name : null;
}

function isMedia(json: Buffer, name: string, start: number, end: number): boolean {
  const text = json.subarray(start, end);
  if (text.includes(BACKSLASH) || !isAscii(text)) return false;
  return !urlMembers.has(name) || dataUri.test(json.toString("latin1", start, start + headBytes));
}

const shortBytes = 64;
const BLANK = 0x20;
const blankLine = Buffer.from("\n\n");
const noMark = (): string => "";
/** Members that hold media as base64, in all dialects. */
const mediaMembers: ReadonlySet<string> = new Set([
  ...["data", "result", "b64_json", "partial_image_b64", "image_b64", "file_data"],
  ...["url", "image_url", "file_url"],
]);
/** Those that hold it as a data URI, or an address in its place. */
const urlMembers: ReadonlySet<string> = new Set(["url", "image_url", "file_url", "file_data"]);
/** Drafts of pictures, which no other dialect has. */
const discarded: ReadonlySet<string> = new Set(["partial_image_b64"]);
const nameLengthMax = 32;
const dataUri = /^data:[^,]*;base64,/i;
