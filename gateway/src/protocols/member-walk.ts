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
    at = skipSpace(bytes, colon + 1);
    if (data.has(name) && !(name === "input" && open.length === 1)) at = valueEnd(bytes, at);
    else if (wanted.has(name)) visit(name, at, open.at(-1) ?? 0);
  }
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

function nameOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString("latin1", start + 1, end - 1);
  return text.includes("\\") ? String(JSON.parse(bytes.toString("utf8", start, end))) : text;
}

/** Index behind the closing quote of the string that opens at `from`. */
export function stringEnd(bytes: Buffer, from: number): number {
  for (let quote = bytes.indexOf(QUOTE, from + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return bytes.length;
}

/** Index behind the value that begins at `start`; of a number or word, its start. */
export function valueEnd(bytes: Buffer, start: number): number {
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

export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at++;
  return at;
}

const escapeMark = Buffer.from("\\u00");
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
