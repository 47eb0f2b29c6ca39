import { bounds } from "#core/index.ts";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
  valueEnd,
} from "./cursor.ts";
import { asciiName } from "./names.ts";

/**
 * Walks the members of a body whose grammar was checked, at any depth, and tells of the wanted ones where their value
 * begins and where the object begins that holds them. What the caller gave as data of its own is passed over.
 */
export function walkMembers(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  visit: (name: string, valueStart: number, objectStart: number) => void,
): void {
  /** Where the values begin that are open. */
  const open: number[] = [];
  walk(bytes, {
    open: (start) => void open.push(start),
    close: () => void open.pop(),
    member: (name, start) => {
      if (wanted.has(name)) visit(name, start, open.at(-1) ?? 0);
      return true;
    },
  });
}

interface Visitor {
  /** An object or an array begins. */
  open(start: number): void;
  close(): void;
  /** False: the walk is over. */
  member(name: string, valueStart: number): boolean;
}

function walk(bytes: Buffer, visitor: Visitor): void {
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte !== QUOTE) {
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth++;
        visitor.open(at);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth--;
        visitor.close();
      }
      at++;
      continue;
    }
    const end = stringEnd(bytes, at);
    const colon = skipSpace(bytes, end);
    if (bytes[colon] !== COLON) {
      at = end;
      continue;
    }
    const name = asciiName(bytes, at, end) ?? "";
    at = skipSpace(bytes, colon + 1);
    if (isData(name, depth)) at = valueEnd(bytes, at);
    else if (!visitor.member(name, at)) return;
  }
}

/** What an object says of itself: where the values of such members begin, the last where one stands twice; -1 for one that is not there. */
export interface Described {
  /** `TWICE` where two stand there: two readers could disagree on which one counts. */
  id: number;
  type: number;
  url: number;
  /** `mimeType` or `mime_type`. */
  mimeType: number;
}

/** A member that was found. Read it at once: the next one may take its place. */
export interface FoundMember extends Described {
  name: string;
  /** Where its value begins. What is described is that value, where it is an object. */
  start: number;
}

interface OpenObject extends Described {
  start: number;
}

/**
 * The same, telling of each wanted member when the object that holds it ends, so that it is known what that object says of itself
 * wherever in it that stands. One walk, however deep objects stand in each other. It ends at the first member beyond
 * `membersMax`, and returns its name; null: there were no more.
 */
export function walkObjects(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  membersMax: number,
  visit: (member: FoundMember, object: Described) => void,
): string | null {
  let left = membersMax;
  /** By depth. */
  const open: OpenObject[] = [];
  let depth = 0;
  /** Those of objects that are open, outer ones first. */
  const found: FoundMember[] = [];
  let count = 0;
  let beyond: string | null = null;
  walk(bytes, {
    open: (start) => {
      open[depth] ??= { start: 0, id: -1, type: -1, url: -1, mimeType: -1 };
      const object = open[depth++] as OpenObject;
      object.start = start;
      copyDescription(nothingSaid, object);
    },
    close: () => {
      const object = open[--depth];
      if (object === undefined) return;
      while (count > 0 && (found[count - 1] as FoundMember).start > object.start)
        visit(found[--count] as FoundMember, object);
      const holder = found[count - 1];
      if (count > 0 && holder?.start === object.start) copyDescription(object, holder);
    },
    member: (name, start) => {
      const object = open[depth - 1];
      if (object !== undefined) {
        if (name === "type") object.type = start;
        else if (name === "id") object.id = object.id === -1 ? start : TWICE;
        else if (name === "url") object.url = start;
        else if (name === "mimeType" || name === "mime_type") object.mimeType = start;
      }
      if (!wanted.has(name)) return true;
      if (--left < 0) {
        beyond = name;
        return false;
      }
      found[count] ??= { name: "", start: 0, id: -1, type: -1, url: -1, mimeType: -1 };
      const member = found[count++] as FoundMember;
      member.name = name;
      member.start = start;
      copyDescription(nothingSaid, member);
      return true;
    },
  });
  return beyond;
}

function copyDescription({ id, type, url, mimeType }: Described, to: Described): void {
  to.id = id;
  to.type = type;
  to.url = url;
  to.mimeType = mimeType;
}

export const TWICE = -2;
const nothingSaid: Described = { id: -1, type: -1, url: -1, mimeType: -1 };

/** Whether the member's value is passed over. */
function isData(name: string, depth: number): boolean {
  return data.has(name) && !(name === "input" && depth === 1);
}

/** Members that hold the caller's own data, which no upstream reads names from. `input` is data but at the top. */
const data: ReadonlySet<string> = new Set([
  "input",
  "args",
  "arguments",
  "response",
  "input_schema",
  "input_examples",
  "output_schema",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema",
  "schema",
  "json_schema",
  "metadata",
  "annotations",
  "results",
]);

/** An escape of an ASCII letter or underscore, which nobody writes who does not want to hide one. */
export function mayEscape(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(escapeMark); at !== -1; at = bytes.indexOf(escapeMark, at + escapeMark.length)) {
    const digit = bytes[at + escapeMark.length] ?? 0;
    if (digit >= 0x34 && digit <= 0x37) return true;
  }
  return false;
}

/** The text of a member, escapes read; null for what is none, or longer than anything that decides about a call. */
export function textAt(bytes: Buffer, start: number): string | null {
  if (bytes[start] !== QUOTE) return null;
  const end = stringEnd(bytes, start);
  if (end - start > bounds.governingBytesMax) return null;
  return asciiName(bytes, start, end) || String(JSON.parse(bytes.toString("utf8", start, end)));
}

const escapeMark = Buffer.from("\\u00");
