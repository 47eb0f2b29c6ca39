import { Failure } from "#core/index.ts";
import { readHeaderValue } from "./content-type.ts";

/** What a part of a form says of itself. */
export interface PartHead {
  readonly name: string;
  /** null for a field. */
  readonly filename: string | null;
  readonly contentType: string | null;
}

/**
 * Reads the header lines of one part, without the blank line behind them (RFC 7578, 4.2). Strict where another reader
 * could come to another name: folded lines, bare line ends, doubled headers, escapes in a name, encoded values.
 */
export function readPartHead(bytes: Uint8Array): PartHead {
  const headers = new Map<string, string>();
  for (const line of decoder.decode(bytes).split("\r\n")) {
    const match = linePattern.exec(line);
    if (match === null) throw badForm("a part has a header line that is not valid");
    const name = (match[1] ?? "").toLowerCase();
    if (headers.has(name) && known.has(name)) throw badForm(`a part has two ${name} headers`);
    headers.set(name, trimmed(match[2] ?? ""));
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!plainEncodings.has(encoding)) throw badForm("a part has a content-transfer-encoding; send it as it is");
  const disposition = readHeaderValue(headers.get("content-disposition") ?? "");
  const name = disposition?.params.get("name");
  if (disposition?.word !== "form-data" || name === undefined) throw badForm("a part has no name");
  if (name.escaped || disposition.params.has("name*")) throw badForm("a part's name is written with escapes");
  const filename = disposition.params.get("filename") ?? disposition.params.get("filename*");
  return { name: name.value, filename: filename?.value ?? null, contentType: headers.get("content-type") ?? null };
}

export function badForm(why: string): Failure {
  return new Failure("invalid_request", `The form is not valid: ${why}.`);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const known: ReadonlySet<string> = new Set(["content-disposition", "content-type", "content-transfer-encoding"]);
const plainEncodings: ReadonlySet<string> = new Set(["7bit", "8bit", "binary"]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in a line
const linePattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\u0000-\u0008\u000a-\u001f\u007f]*)$/;

/** Blanks around a value belong to the line. By hand: a pattern would try each of many blanks in its middle as the end. */
function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
