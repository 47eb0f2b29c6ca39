import type { Span } from "../json/cursor.ts";

/** Characters of a data URL before its base64. */
const headerCharactersMax = 512;
const sniffedCharacters = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true });
/** Control characters that no text file contains. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
const controls = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** The text of a file in base64 or in a data URL of any declared type; null: it is not UTF-8. */
export function encodedText(encoded: string): string | null {
  const from = base64Start(encoded);
  if (from === -1) return percentDecoded(encoded);
  if (!beginsAsText(encoded, from)) return null;
  try {
    return utf8.decode(Buffer.from(encoded.slice(from), "base64"));
  } catch {
    return null;
  }
}

/** Whether a body of no declared type is text. */
export function isUtf8Text(bytes: Uint8Array): boolean {
  if (controls.test(Buffer.from(bytes.subarray(0, sniffedCharacters)).toString("latin1"))) return false;
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Whether `encodedText` finds a text in a JSON string. `span`: the characters between its quotes. */
export function isEncodedText(bytes: Buffer, { start, end }: Span): boolean {
  // Most are images, of which the beginning is enough.
  const head = bytes.toString("latin1", start, Math.min(end, start + headerCharactersMax + sniffedCharacters));
  const from = base64Start(head);
  if (!head.includes("\\") && from !== -1 && !beginsAsText(head, from)) return false;
  const whole = bytes.toString("latin1", start, end);
  try {
    return encodedText(whole.includes("\\") ? JSON.parse(`"${whole}"`) : whole) !== null;
  } catch {
    return false;
  }
}

/** -1: it is a data URL without base64. */
function base64Start(encoded: string): number {
  if (!/^data:/i.test(encoded)) return 0;
  return /^data:[^,]*;base64,/i.exec(encoded.slice(0, headerCharactersMax))?.[0].length ?? -1;
}

function beginsAsText(encoded: string, from: number): boolean {
  const beginning = Buffer.from(encoded.slice(from, from + sniffedCharacters), "base64").toString("latin1");
  return beginning !== "" && !controls.test(beginning);
}

function percentDecoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
