import { encodedText, type TextSpan } from "#protocols/index.ts";

/** A text without JSON's escapes. `raw`: as it is in the body. */
export interface PlainText {
  readonly text: string;
  readonly raw: string;
  /** How often it was unescaped: 0 to 2. */
  readonly levels: number;
}

function levelsOf({ kind, json }: Pick<TextSpan, "kind" | "json">): number {
  if (kind === "plain") return 0;
  return json && kind === "string" ? 2 : 1;
}

export function plainText(bytes: Buffer, span: TextSpan): PlainText {
  const raw = bytes.toString("utf8", span.start, span.end);
  const levels = levelsOf(span);
  let text = raw;
  for (let level = 0; level < levels; level++) text = unescaped(text);
  if (span.kind === "file") text = encodedText(text) ?? "";
  return { text, raw, levels };
}

const escapes = /\\(?:u([0-9a-fA-F]{4})|([^u]))/g;
const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Text with JSON's escapes replaced. An incomplete escape is kept. */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(escapes, (_whole, hex: string | undefined, character: string | undefined) =>
    hex === undefined
      ? (controls[character as string] ?? (character as string))
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The offset in `escapedText` of a character of the unescaped text. */
export function escapedOffset(escapedText: string, offset: number): number {
  let removed = 0;
  for (const { 0: whole, index } of escapedText.matchAll(escapes)) {
    if (index - removed >= offset) break;
    removed += whole.length - 1;
  }
  return offset + removed;
}

/** The offset in `raw`, in UTF-16 units. */
export function rawOffset({ raw, levels }: PlainText, offset: number): number {
  if (levels === 0) return offset;
  if (levels === 1) return escapedOffset(raw, offset);
  return escapedOffset(raw, escapedOffset(unescaped(raw), offset));
}

export function escapeText(text: string, levels: number): string {
  let out = text;
  for (let level = 0; level < levels; level++) out = JSON.stringify(out).slice(1, -1);
  return out;
}

/** A number of JSON: a placeholder in its place needs quotes. */
export function isBareNumber(text: string, start: number, end: number): boolean {
  if (!/^-?[\d.]+$/.test(text.slice(start, end))) return false;
  return (
    /(?:^|[:,[])\s*$/.test(text.slice(Math.max(0, start - 16), start)) &&
    /^\s*(?:[,}\]]|$)/.test(text.slice(end, end + 16))
  );
}
