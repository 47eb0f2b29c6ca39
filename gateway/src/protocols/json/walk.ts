import { bounds } from "#core/index.ts";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  type LongStrings,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
  valueEnd,
} from "./cursor.ts";
import { asciiName, NameFilter } from "./names.ts";

/**
 * Calls `visit` for wanted members at any depth of a checked body, with the start of the value and of its object. Members with the
 * caller's own data are skipped.
 */
export function walkMembers(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  visit: (name: string, valueStart: number, objectStart: number) => void,
): void {
  /** Starts of open values. */
  const open: number[] = [];
  walk(bytes, wanted, {
    open: (start) => void open.push(start),
    close: () => void open.pop(),
    member: (name, start) => {
      if (wanted.has(name)) visit(name, start, open.at(-1) ?? 0);
      return true;
    },
  });
}

interface Visitor {
  open(start: number): void;
  close(): void;
  /** Only members that may be wanted. Returns false to end the walk. */
  member(name: string, valueStart: number): boolean;
}

function walk(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  visitor: Visitor,
  longStrings: LongStrings | null = null,
): void {
  const filter = filterOf(wanted);
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
    const end = stringEnd(bytes, at, bytes.length, longStrings);
    const colon = skipSpace(bytes, end);
    if (bytes[colon] !== COLON) {
      at = end;
      continue;
    }
    const name = filter.mayHold(bytes, at, end) ? (asciiName(bytes, at, end) ?? "") : "";
    at = skipSpace(bytes, colon + 1);
    if (name === "") continue;
    if (isCallerData(name, depth)) at = valueEnd(bytes, at, bytes.length, longStrings);
    else if (!visitor.member(name, at)) return;
  }
}

/** Offsets of a value and its identifying members; -1 if absent. Instances are reused, so do not store them. */
class MemberInfo {
  /** The name of its member. */
  name = "";
  start = 0;
  /** `DUPLICATE` if there are two, since readers could disagree on which one counts. */
  id = -1;
  type = -1;
  url = -1;
  /** Readers could disagree on which counts. */
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
 * Like `walkMembers`, but visits members when their object ends, when all its identifying members are known. Ends at the first member
 * beyond `membersMax` and returns its name, else null.
 */
export function walkObjects(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  membersMax: number,
  visit: (member: MemberInfo, object: MemberInfo) => void,
  longStrings: LongStrings | null = null,
): string | null {
  let left = membersMax;
  const open: MemberInfo[] = [];
  let depth = 0;
  /** Members of open objects, outer first. */
  const found: MemberInfo[] = [];
  let count = 0;
  let beyond: string | null = null;
  walk(
    bytes,
    wanted,
    {
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
    },
    longStrings,
  );
  return beyond;
}

export const DUPLICATE = -2;

function isCallerData(name: string, depth: number): boolean {
  return callerDataNames.has(name) && !(name === "input" && depth === 1);
}

/** Members with the caller's own data, which upstreams read no names from. `input` is data except at the top. */
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

const filters = new WeakMap<ReadonlySet<string>, NameFilter>();

function filterOf(wanted: ReadonlySet<string>): NameFilter {
  let filter = filters.get(wanted);
  if (filter === undefined) {
    filter = new NameFilter().add(1, wanted).add(1, callerDataNames).add(1, identifyingNames);
    filters.set(wanted, filter);
  }
  return filter;
}

/** See MemberInfo. */
const identifyingNames = ["id", "type", "url", "mimeType", "mime_type"];

/** Whether an ASCII letter or underscore is escaped, which only hides a name. */
export function mayEscapeNames(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(escapeMark); at !== -1; at = bytes.indexOf(escapeMark, at + escapeMark.length)) {
    const digit = bytes[at + escapeMark.length] ?? 0;
    if (digit >= 0x34 && digit <= 0x37) return true;
  }
  return false;
}

/** The text with escapes decoded; null if it is no string or too long to matter. */
export function textAt(bytes: Buffer, start: number): string | null {
  if (bytes[start] !== QUOTE) return null;
  const end = stringEnd(bytes, start);
  if (end - start > bounds.governingBytesMax) return null;
  return asciiName(bytes, start, end) || String(JSON.parse(bytes.toString("utf8", start, end)));
}

const escapeMark = Buffer.from("\\u00");
