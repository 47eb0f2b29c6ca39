import { unpack } from "#bodies/index.ts";
import { bounds } from "#core/index.ts";
import { AnyTap, type StreamTap, type UsageReading } from "#protocols/index.ts";

/** Passes a packed stream as it comes, and listens to it once it has ended. What is too long is estimated by its bytes. */
export class PackedTap extends AnyTap {
  readonly #encoding: string;
  #kept: Uint8Array[] = [];
  #bytes = 0;

  constructor(inner: StreamTap, encoding: string) {
    super(inner);
    this.#encoding = encoding;
  }

  protected override listen(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    // The bytes go on to the caller, whose buffer they become.
    if (this.#bytes <= keptMax) this.#kept.push(chunk.slice());
    else this.#kept = [];
  }

  override get usage(): UsageReading | null {
    this.#unpack();
    return super.usage;
  }

  /** Packed text has two bytes or more to the token. */
  override get outputEstimate(): number {
    return super.usage === null ? Math.ceil(this.#bytes / 2) : super.outputEstimate;
  }

  override get contentSeen(): boolean {
    return this.#bytes > 0;
  }

  override complete(): boolean {
    this.#unpack();
    return true;
  }

  /** Fails until the stream has ended; the next try unpacks all that came. */
  #unpack(): void {
    if (this.#kept.length === 0) return;
    const unpacked = unpackedAnswer(Buffer.concat(this.#kept), this.#encoding);
    if (unpacked === null) return;
    this.#kept = [];
    super.listen(unpacked);
  }
}

/** Unpacking blocks the event loop. */
const unpackedMax = Math.min(8 * 1024 * 1024, bounds.replyBytesMax);
/** Packed bytes of a stream that are kept until its end. */
const keptMax = 1024 * 1024;

/** null: it cannot be unpacked, or is too large. */
export function unpackedAnswer(bytes: Uint8Array, encoding: string): Uint8Array | null {
  if (bytes.length > keptMax) return null;
  try {
    return unpack(bytes, encoding.trim().toLowerCase(), unpackedMax);
  } catch {
    return null;
  }
}
