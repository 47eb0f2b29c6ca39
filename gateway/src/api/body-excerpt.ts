import { bounds } from "#core/index.ts";
import type { CapturedBody } from "#ports/index.ts";

const quote = 0x22;
const lineEnd = 0x0a;
/** The characters of base64 and base64url, and the backslash before a slash in some JSON. */
const base64 = new Uint8Array(256);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\\") {
  base64[character.charCodeAt(0)] = 1;
}
/** The beginning of omitted base64 that is included. */
const base64SampleBytes = 32;
const noteBytesMax = 64;
const firstBytes = 4_096;

/**
 * Collects the beginning of a text, at most bounds.captureBodyBytesMax. Long base64 (images, sound) is omitted, so that the text
 * around it fits. Beyond the bound bytes are only counted.
 */
export class BodyExcerpt {
  #kept = new Uint8Array(firstBytes);
  #length = 0;
  #bytes = 0;
  /** Length of the base64 at the end of the excerpt; -1 while base64 is being skipped. */
  #run = 0;
  #skipped = 0;
  #truncated = false;
  #quotes = new NextByte(quote);
  #lineEnds = new NextByte(lineEnd);

  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#quotes = new NextByte(quote);
    this.#lineEnds = new NextByte(lineEnd);
    let at = 0;
    while (at < piece.length && !this.#truncated) at = this.#run === -1 ? this.#skip(piece, at) : this.#take(piece, at);
  }

  end(): CapturedBody {
    if (this.#run === -1) this.#note();
    const buffer = this.#kept.subarray(0, this.#length);
    // A character that was cut is dropped. PostgreSQL cannot store NUL.
    const text = new TextDecoder().decode(buffer, { stream: this.#truncated }).replaceAll("\0", "\ufffd");
    return { text, bytes: this.#bytes, truncated: this.#truncated };
  }

  #take(piece: Uint8Array, start: number): number {
    this.#makeRoom(piece.length - start);
    const buffer = this.#kept;
    let at = start;
    let run = this.#run;
    let length = this.#length;
    for (; at < piece.length && length < bounds.captureBodyBytesMax; at++) {
      const byte = piece[at] ?? 0;
      buffer[length++] = byte;
      run = base64[byte] === 1 ? run + 1 : 0;
      if (run <= bounds.captureBase64CharactersMax) continue;
      this.#length = length - run + base64SampleBytes;
      this.#skipped = run - base64SampleBytes;
      this.#run = -1;
      return at + 1;
    }
    this.#run = run;
    this.#length = length;
    if (at < piece.length) this.#truncated = true;
    return at;
  }

  /** Skips to the end of the string or line, by native search. */
  #skip(piece: Uint8Array, start: number): number {
    const end = Math.min(this.#quotes.from(piece, start), this.#lineEnds.from(piece, start));
    this.#skipped += end - start;
    if (end < piece.length) this.#note();
    return end;
  }

  #note(): void {
    const note = encoder.encode(`…[${this.#skipped} more characters of base64]`);
    this.#makeRoom(note.length);
    this.#kept.set(note, this.#length);
    this.#length += note.length;
    this.#skipped = 0;
    this.#run = 0;
  }

  #makeRoom(bytes: number): void {
    const wanted = Math.min(this.#length + bytes, bounds.captureBodyBytesMax + noteBytesMax);
    if (wanted <= this.#kept.length) return;
    const larger = new Uint8Array(Math.min(wanted * 2, bounds.captureBodyBytesMax + noteBytesMax));
    larger.set(this.#kept.subarray(0, this.#length));
    this.#kept = larger;
  }
}

/** Finds the next occurrence of a byte in a piece. Called from left to right, it searches no part of the piece twice. */
class NextByte {
  readonly #byte: number;
  #next = -1;

  constructor(byte: number) {
    this.#byte = byte;
  }

  /** The piece's length if there is none. */
  from(piece: Uint8Array, start: number): number {
    if (this.#next < start) {
      const found = piece.indexOf(this.#byte, start);
      this.#next = found === -1 ? piece.length : found;
    }
    return this.#next;
  }
}

const encoder = new TextEncoder();

/** The excerpt of a whole body; a note of type and size if it is not text. */
export function excerptOf(body: Uint8Array, contentType: string | null): CapturedBody {
  if (!isText(contentType)) return noteOf(body.length, contentType);
  const excerpt = new BodyExcerpt();
  excerpt.push(body);
  return excerpt.end();
}

export function noteOf(bytes: number, contentType: string | null): CapturedBody {
  return { text: `[${essenceOf(contentType) || "unnamed type"}, ${bytes} bytes]`, bytes, truncated: false };
}

/** A missing type counts as text: callers omit it for JSON. */
export function isText(contentType: string | null): boolean {
  const essence = essenceOf(contentType);
  if (essence === "" || essence.startsWith("text/")) return true;
  return /^application\/(?:[\w.-]+\+)?(?:json|xml)$|^application\/(?:x-ndjson|jsonl|x-www-form-urlencoded)$/.test(
    essence,
  );
}

function essenceOf(contentType: string | null): string {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase().slice(0, 128) ?? "";
}
