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
    if (isCallerData(name, depth)) at = valueEnd(bytes, at);
    else if (!visitor.member(name, at)) return;
  }
}

/**
 * A value, and where the members begin by which an object says what it is: the last where one stands twice, -1 for one that is not
 * there. Read it at once: another one may take its place.
 */
class MemberInfo {
  /** Of the member whose value it is. */
  name = "";
  start = 0;
  /** `TWICE` where two stand there: two readers could disagree on which one counts. */
  id = -1;
  type = -1;
  url = -1;
  /** Two readers could disagree on which one counts: whoever fetches refuses it. */
  hasTwoUrls = false;
  hasTwoTypes = false;
  /** `mimeType` or `mime_type`. */
  mimeType = -1;

  begin(start: number, name = ""): void {
    this.name = name;
    this.start = start;
    this.copyFrom(emptyInfo);
  }

  copyFrom({ id, type, url, hasTwoUrls, hasTwoTypes, mimeType }: MemberInfo): void {
    this.id = id;
    this.type = type;
    this.url = url;
    this.hasTwoUrls = hasTwoUrls;
    this.hasTwoTypes = hasTwoTypes;
    this.mimeType = mimeType;
  }
}

const emptyInfo = new MemberInfo();

/**
 * The same, telling of each wanted member when the object that holds it ends, so that it is known what that object says of itself
 * wherever in it that stands. One walk, however deep objects stand in each other. It ends at the first member beyond
 * `membersMax`, and returns its name; null: there were no more.
 */
export function walkObjects(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  membersMax: number,
  visit: (member: MemberInfo, object: MemberInfo) => void,
): string | null {
  let left = membersMax;
  const open: MemberInfo[] = [];
  let depth = 0;
  /** Those of objects that are open, outer ones first. */
  const found: MemberInfo[] = [];
  let count = 0;
  let beyond: string | null = null;
  walk(bytes, {
    open: (start) => {
      open[depth] ??= new MemberInfo();
      open[depth++]?.begin(start);
    },
    close: () => {
      const object = open[--depth];
      if (object === undefined) return;
      while (count > 0 && (found[count - 1] as MemberInfo).start > object.start) {
        visit(found[--count] as MemberInfo, object);
      }
      const holder = found[count - 1];
      if (count > 0 && holder?.start === object.start) holder.copyFrom(object);
    },
    member: (name, start) => {
      const object = open[depth - 1];
      if (object !== undefined) {
        if (name === "type") {
          object.hasTwoTypes = object.type !== -1;
          object.type = start;
        } else if (name === "id") object.id = object.id === -1 ? start : DUPLICATE;
        else if (name === "url") {
          object.hasTwoUrls = object.url !== -1;
          object.url = start;
        } else if (name === "mimeType" || name === "mime_type") object.mimeType = start;
      }
      if (!wanted.has(name)) return true;
      if (--left < 0) {
        beyond = name;
        return false;
      }
      found[count] ??= new MemberInfo();
      found[count++]?.begin(start, name);
      return true;
    },
  });
  return beyond;
}

export const DUPLICATE = -2;

/** Whether the member's value is passed over. */
function isCallerData(name: string, depth: number): boolean {
  return callerDataNames.has(name) && !(name === "input" && depth === 1);
}

/** Members that hold the caller's own data, which no upstream reads names from. `input` is data but at the top. */
const callerDataNames: ReadonlySet<string> = new Set([
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
export function mayEscapeNames(bytes: Buffer): boolean {
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
