import { bounds } from "#core/index.ts";
import type { CapturedBody } from "#ports/index.ts";

const quote = 0x22;
const lineEnd = 0x0a;
/** The letters of base64 and base64url, and the backslash that stands before a slash in some JSON. */
const base64 = new Uint8Array(256);
for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\\") {
  base64[letter.charCodeAt(0)] = 1;
}
/** How much of left-out base64 stays, to be recognised by. */
const tasteBytes = 32;
const noteBytesMax = 64;
const firstBytes = 4_096;

/**
 * The beginning of a text as it passes, at most bounds.captureBodyBytesMax of it. Long base64 (pictures, sound) is left
 * out, so that the words around it have the room. What it costs is bounded by what it keeps: the rest is only counted.
 */
export class BodyExcerpt {
  #kept = new Uint8Array(firstBytes);
  #length = 0;
  #bytes = 0;
  /** Letters of base64 in a row that end what is kept; -1 while more of them are passed over. */
  #run = 0;
  #passedOver = 0;
  #truncated = false;
  #quotes = new NextByte(quote);
  #lineEnds = new NextByte(lineEnd);

  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#quotes = new NextByte(quote);
    this.#lineEnds = new NextByte(lineEnd);
    let at = 0;
    while (at < piece.length && !this.#truncated) at = this.#run === -1 ? this.#pass(piece, at) : this.#take(piece, at);
  }

  end(): CapturedBody {
    if (this.#run === -1) this.#note();
    const kept = this.#kept.subarray(0, this.#length);
    // A letter that was cut in two is left out. NUL is no letter that every database can keep.
    const text = new TextDecoder().decode(kept, { stream: this.#truncated }).replaceAll("\0", "\ufffd");
    return { text, bytes: this.#bytes, truncated: this.#truncated };
  }

  #take(piece: Uint8Array, start: number): number {
    this.#makeRoom(piece.length - start);
    const kept = this.#kept;
    let at = start;
    let run = this.#run;
    let length = this.#length;
    for (; at < piece.length && length < bounds.captureBodyBytesMax; at++) {
      const byte = piece[at] ?? 0;
      kept[length++] = byte;
      run = base64[byte] === 1 ? run + 1 : 0;
      if (run <= bounds.captureBase64CharactersMax) continue;
      this.#length = length - run + tasteBytes;
      this.#passedOver = run - tasteBytes;
      this.#run = -1;
      return at + 1;
    }
    this.#run = run;
    this.#length = length;
    if (at < piece.length) this.#truncated = true;
    return at;
  }

  /** To the end of the string or line that the base64 stands in: found far faster than by looking at each letter. */
  #pass(piece: Uint8Array, start: number): number {
    const end = Math.min(this.#quotes.from(piece, start), this.#lineEnds.from(piece, start));
    this.#passedOver += end - start;
    if (end < piece.length) this.#note();
    return end;
  }

  #note(): void {
    const note = encoder.encode(`…[${this.#passedOver} more characters of base64]`);
    this.#makeRoom(note.length);
    this.#kept.set(note, this.#length);
    this.#length += note.length;
    this.#passedOver = 0;
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

/** Where a byte comes next in one piece, asked for from the left to the right: no part of the piece is searched twice. */
class NextByte {
  readonly #byte: number;
  #next = -1;

  constructor(byte: number) {
    this.#byte = byte;
  }

  /** The end of the piece where there is none. */
  from(piece: Uint8Array, start: number): number {
    if (this.#next < start) {
      const found = piece.indexOf(this.#byte, start);
      this.#next = found === -1 ? piece.length : found;
    }
    return this.#next;
  }
}

const encoder = new TextEncoder();

/** What is kept of a body that is whole: its beginning, or a note where it is no text. */
export function excerptOf(body: Uint8Array, contentType: string | null): CapturedBody {
  if (!isText(contentType)) return noteOf(body.length, contentType);
  const excerpt = new BodyExcerpt();
  excerpt.push(body);
  return excerpt.end();
}

export function noteOf(bytes: number, contentType: string | null): CapturedBody {
  return { text: `[${essenceOf(contentType) || "unnamed type"}, ${bytes} bytes]`, bytes, truncated: false };
}

/** Without a type it is taken for text: callers leave it out before JSON. */
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
