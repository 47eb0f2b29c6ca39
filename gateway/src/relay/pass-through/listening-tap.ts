import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
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

  /** What is not of the dialect after all is no reason to keep it from its caller. */
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

  /** The end is the connection's: what stands behind the last event is passed too. */
  override get ended(): boolean {
    return false;
  }

  /** An error that the upstream tells has been passed on like everything else. */
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

  /** Of a stream that goes on nothing can be unpacked yet; what is asked of it again then is asked of all that came. */
  #unpack(): void {
    if (this.#kept.length === 0) return;
    const unpacked = unpackedAnswer(Buffer.concat(this.#kept), this.#encoding);
    if (unpacked === null) return;
    this.#kept = [];
    super.listen(unpacked);
  }
}

/** More than that comes out of no answer that is listened to: unpacking blocks the loop. */
const unpackedMax = Math.min(8 * 1024 * 1024, bounds.replyBytesMax);
/** Packed bytes of a stream that are kept until its end. */
const keptMax = 1024 * 1024;

type Unpacker = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

const unpackers: ReadonlyMap<string, Unpacker> = new Map([
  ["gzip", gunzipSync as Unpacker],
  ["x-gzip", gunzipSync as Unpacker],
  ["deflate", inflateSync as Unpacker],
  ["br", brotliDecompressSync as Unpacker],
  ["zstd", zstdDecompressSync as Unpacker],
]);

/** What an answer says once it is unpacked, to be listened to. null: it cannot be, or it is too large. */
export function unpackedAnswer(bytes: Uint8Array, encoding: string): Uint8Array | null {
  const unpack = unpackers.get(encoding.trim().toLowerCase());
  if (unpack === undefined || bytes.length > keptMax) return null;
  try {
    return unpack(bytes, { maxOutputLength: unpackedMax });
  } catch {
    return null;
  }
}

const noBytes = new Uint8Array(0);
