import { invalidRequest } from "#core/index.ts";
import { type ExactObject, objectOf, parseExact, plainText } from "../bill.ts";

/** A row of a table by its column names in lower case. */
export type TableRow = Readonly<Record<string, string>>;

/** Rows of a file, and characters of a field or a JSON row, beyond which it is refused. */
const rowsMax = 2_000_000;
const textMax = 256 * 1024;

/**
 * Reads CSV (RFC 4180) with a header. Separators are commas, semicolons or tabs, by the header. Throws invalid_request with the line of
 * a row with another number of fields than the header. null: an empty line.
 */
export function* csvRows(text: string): Generator<TableRow | null, void, undefined> {
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  const firstLine = body.slice(0, body.search(/[\r\n]|$/));
  const separator = [",", ";", "\t"].find((mark) => firstLine.includes(mark)) ?? ",";
  let header: readonly string[] | null = null;
  let count = 0;
  for (const { fields, line } of recordsOf(body, separator)) {
    if (header === null) {
      header = fields.map((name) => name.trim().toLowerCase());
      continue;
    }
    if (fields.length === 1 && fields[0] === "") {
      yield null;
      continue;
    }
    if (fields.length !== header.length) {
      throw badFile(`line ${line} has ${fields.length} fields, and the header has ${header.length}`);
    }
    if (++count > rowsMax) throw tooManyRows();
    yield Object.fromEntries(header.map((name, index) => [name, fields[index] ?? ""]));
  }
  if (header === null) throw badFile("it is empty");
}

function* recordsOf(text: string, separator: string) {
  let [fields, field, line, start]: [string[], string, number, number] = [[], "", 1, 1];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (field.length > textMax) throw badFile(`a field near line ${line} has more than ${textMax} characters`);
    if (character === "\n") line++;
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else isQuoted = false;
    } else if (character === '"' && field === "") isQuoted = true;
    else if (character === separator) {
      fields.push(field);
      field = "";
    } else if (character === "\n") {
      fields.push(field.endsWith("\r") ? field.slice(0, -1) : field);
      yield { fields, line: start };
      [fields, field, start] = [[], "", line];
    } else field += character;
  }
  if (isQuoted) throw badFile(`a quote that begins near line ${start} has no end`);
  if (field !== "" || fields.length > 0) yield { fields: [...fields, field], line: start };
}

/** Objects of a JSON array, or of JSON lines. */
export function* jsonRows(text: string): Generator<ExactObject, void, undefined> {
  let [depth, start, isText] = [0, 0, false];
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (depth > 0 && at - start > textMax) throw badFile(`a row has more than ${textMax} characters`);
    if (isText) {
      if (character === "\\") at++;
      else if (character === '"') isText = false;
    } else if (depth > 0 && character === '"') isText = true;
    else if (character === "{") {
      if (depth++ === 0) start = at;
    } else if (character === "}" && depth > 0) {
      if (--depth > 0) continue;
      if (++count > rowsMax) throw tooManyRows();
      yield objectIn(text.slice(start, at + 1));
    } else if (depth === 0 && !/[\s,[\]\ufeff]/.test(character)) throw noJson();
  }
  if (depth > 0) throw noJson();
}

function objectIn(text: string): ExactObject {
  try {
    return objectOf(parseExact(text));
  } catch {
    throw noJson();
  }
}

function noJson() {
  return badFile("it is neither a JSON array nor JSON lines");
}

function tooManyRows() {
  return badFile(`it has more than ${rowsMax} rows; send one month at a time`);
}

export function badFile(problem: string) {
  return invalidRequest("text", `Cannot read the bill: ${problem}.`);
}

/** The first of these columns that the table has. Throws if it has none. */
export function columnIn(row: TableRow, names: readonly string[]): string {
  const found = names.find((name) => name in row);
  if (found === undefined) throw badFile(`it has no column ${names.join(" or ")}`);
  return found;
}

export function fieldIn(row: TableRow, names: readonly string[]): string | null {
  for (const name of names) {
    const value = plainText(row[name] ?? "");
    if (value !== "") return value;
  }
  return null;
}
