import { unpack } from "#bodies/index.ts";
import { bounds } from "#core/index.ts";
import type { StreamTap, UsageReading } from "#protocols/index.ts";
import { WrappedTap } from "../attempt/wrapped-tap.ts";

/** Passes every byte as it comes, whatever its framing is, while another tap listens to it. */
export class ListeningTap extends WrappedTap {
  readonly isRaw = true;
  #pieces = 0;
  #isUnread = false;

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length > 0) this.#pieces++;
    this.listen(chunk);
    return chunk;
  }

  /** What turns out not to be of the dialect still goes to the caller. */
  protected listen(chunk: Uint8Array): void {
    if (this.#isUnread) return;
    try {
      this.inner.push(chunk);
    } catch {
      this.#isUnread = true;
    }
  }

  override get events(): number {
    return this.#pieces;
  }

  /** The connection ends it: what follows the last event is passed, too. */
  override get ended(): boolean {
    return false;
  }

  override get failure(): null {
    return null;
  }

  override get id(): null {
    return null;
  }

  override complete(): boolean {
    return true;
  }

  override rest(): Uint8Array {
    return noBytes;
  }
}

/** Passes a packed stream as it comes, and listens to it once it has ended. What is too long is estimated by its bytes. */
export class PackedTap extends ListeningTap {
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

const noBytes = new Uint8Array(0);
