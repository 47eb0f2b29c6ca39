import { bounds } from "#core/index.ts";
import { readSpan, type Span } from "./json-scan.ts";
import { skimObject, skimValue } from "./json-skim.ts";
import { isObject, objectOf, textOf, wrong } from "./json-value.ts";

/** An object at the upstream that a body names: a file, a store, a container, a conversation, a cache. */
export interface NamedObject {
  /** The member that names it. */
  readonly param: string;
  readonly id: string;
}

/** How the bodies of one dialect name objects. */
export interface ObjectNames {
  /** Members anywhere in the body whose text, or texts, are ids. */
  readonly nested: ReadonlySet<string>;
  /** What all bodies with one of those hold somewhere, as bytes. */
  readonly marks: readonly Buffer[];
}

/** Members that hold the caller's own data, which no upstream reads names from. `input` is data but at the top. */
const data: ReadonlySet<string> = new Set([
  "input",
  "args",
  "arguments",
  "response",
  "input_schema",
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

/** Parts of earlier answers that tell where something came from. */
const tells = /(?:_output|_result|citation|file_path)$/;

export function objectNames(names: readonly string[], marks: readonly string[]): ObjectNames {
  return { nested: new Set(names), marks: marks.map((mark) => Buffer.from(mark)) };
}

/**
 * The objects that a checked body names in nested members. Bodies without any are told by a search of their bytes; one
 * that could spell a name with escapes is walked as well. Throws Failure invalid_request for a name that is no text.
 */
export function nestedObjects(body: Uint8Array, names: ObjectNames): readonly NamedObject[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!names.marks.some((mark) => bytes.includes(mark)) && !mayEscape(bytes)) return none;
  const found: NamedObject[] = [];
  /** Where the values begin that are open. */
  const open: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) open.push(at);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open.pop();
    if (byte !== QUOTE) {
      at++;
      continue;
    }
    const end = stringEnd(bytes, at);
    const colon = skipSpace(bytes, end);
    if (bytes[colon] !== COLON) {
      at = end;
      continue;
    }
    const name = nameOf(bytes, at, end);
    const start = skipSpace(bytes, colon + 1);
    at = start;
    if (data.has(name) && !(name === "input" && open.length === 1)) at = valueEnd(bytes, start);
    else if (names.nested.has(name) && !tells.test(typeAt(bytes, open.at(-1) ?? 0))) take(found, name, bytes, start);
  }
  return found;
}

/** Those of a top-level member that is an id, or an object with one. Throws for what is neither. */
export function objectAt(body: Uint8Array, span: Span | undefined, param: string): readonly NamedObject[] {
  if (span === undefined || body[span.start] === LOWER_N) return none;
  const value = span.end - span.start > bounds.governingBytesMax ? null : readSpan(body, span);
  const id = textOf(value) ?? textOf(objectOf(value)["id"]);
  if (id === null && isObject(value) && value["id"] === undefined) return none;
  if (id === null || id === "") throw wrong(param, "must be an id, or an object that holds one");
  return [{ param, id }];
}

/** The `type` of the object that begins there; empty where it has none. */
function typeAt(bytes: Buffer, start: number): string {
  const members = skimObject(bytes, start, valueEnd(bytes, start), typeOnly);
  return textOf(skimValue(bytes, members?.get("type"))) ?? "";
}

const typeOnly: ReadonlySet<string> = new Set(["type"]);

function take(found: NamedObject[], param: string, bytes: Buffer, start: number): void {
  const first = bytes[start];
  if (first !== QUOTE && first !== OPEN_ARRAY) return;
  const end = valueEnd(bytes, start);
  if (end - start > bounds.governingBytesMax) throw wrong(param, "is longer than any id");
  const value = readSpan(bytes, { start, end });
  for (const id of Array.isArray(value) ? value : [value]) {
    if (typeof id !== "string") throw wrong(param, "must be an id, or a list of ids");
    found.push({ param, id });
    if (found.length > bounds.namedObjectsMax)
      throw wrong(param, `stands with more than ${bounds.namedObjectsMax} ids`);
  }
}

/** An escape of an ASCII letter or underscore, which nobody writes who does not want to hide one. */
function mayEscape(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(escapeMark); at !== -1; at = bytes.indexOf(escapeMark, at + escapeMark.length)) {
    const digit = bytes[at + escapeMark.length] ?? 0;
    if (digit >= 0x34 && digit <= 0x37) return true;
  }
  return false;
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString("latin1", start + 1, end - 1);
  return text.includes("\\") ? String(JSON.parse(bytes.toString("utf8", start, end))) : text;
}

/** Index behind the closing quote of the string that opens at `from`. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let quote = bytes.indexOf(QUOTE, from + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return bytes.length;
}

/** Index behind the value that begins at `start`; of a number or word, its start. */
function valueEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else {
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
      else if (depth === 0) return at;
      at++;
    }
    if (depth === 0) return at;
  }
  return at;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at++;
  return at;
}

const none: readonly NamedObject[] = [];
const escapeMark = Buffer.from("\\u00");
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const LOWER_N = 0x6e;
