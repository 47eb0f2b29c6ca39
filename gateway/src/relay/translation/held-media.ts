import { bounds } from "#core/index.ts";
import { type NewId, notCarried, setMediaAside } from "#protocols/index.ts";

interface HeldPiece {
  readonly bytes: Uint8Array;
  written: boolean;
}

/**
 * Pictures of one translated stream, which are never decoded: while its event is translated a mark takes the place of each.
 * `repeats`: a picture may be written again, so it is kept until the stream ends.
 */
export class HeldMedia {
  readonly #newId: NewId;
  readonly #repeats: boolean;
  readonly #pieces = new Map<number, HeldPiece>();
  #next = 0;
  /** Begins each mark, and is not known upstream; empty until there is a picture. */
  #key = "";
  #bytes = 0;

  constructor(newId: NewId, repeats: boolean) {
    this.#newId = newId;
    this.#repeats = repeats;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** An event's JSON with marks in the place of media. Throws Failure upstream_error when what is left is too large to be built. */
  setAside(data: Uint8Array): Uint8Array {
    if (this.#key === "") this.#key = this.#newId("media_");
    const first = this.#next;
    const aside = setMediaAside(data, bounds.eventJsonBytesMax, (index) => `${this.#key}.${first + index};`);
    if (aside === null) {
      const max = bounds.eventJsonBytesMax;
      throw notCarried(
        `The upstream sent an event of more than ${max} bytes beside media, which cannot be translated.`,
      );
    }
    for (const bytes of aside.media) this.#hold(bytes);
    return aside.data;
  }

  /** The text in pieces, with media in the place of marks. Throws Failure upstream_error when one is no longer held. */
  write(text: string): readonly Uint8Array[] {
    if (this.#pieces.size === 0 || !text.includes(this.#key)) return [encoder.encode(text)];
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let at = text.indexOf(this.#key); at !== -1; at = text.indexOf(this.#key, from)) {
      const end = text.indexOf(";", at);
      const index = Number(text.slice(at + this.#key.length + 1, end));
      parts.push(encoder.encode(text.slice(from, at)), this.#bytesOf(index));
      from = end + 1;
    }
    parts.push(encoder.encode(text.slice(from)));
    if (!this.#repeats) for (const [index, { written }] of this.#pieces) if (written) this.#drop(index);
    return parts;
  }

  #hold(bytes: Uint8Array): void {
    for (const [index, { written }] of this.#pieces) {
      if (this.#bytes + bytes.length <= bounds.streamMediaBytesMax) break;
      if (!written) this.#drop(index);
    }
    if (this.#bytes + bytes.length > bounds.streamMediaBytesMax) throw tooMuch();
    this.#pieces.set(this.#next++, { bytes, written: false });
    this.#bytes += bytes.length;
  }

  #bytesOf(index: number): Uint8Array {
    const piece = this.#pieces.get(index);
    if (piece === undefined) throw tooMuch();
    piece.written = true;
    return piece.bytes;
  }

  #drop(index: number): void {
    this.#bytes -= this.#pieces.get(index)?.bytes.length ?? 0;
    this.#pieces.delete(index);
  }
}

const encoder = new TextEncoder();

function tooMuch() {
  return notCarried(`The upstream's answer holds more than ${bounds.streamMediaBytesMax} bytes of media.`);
}
