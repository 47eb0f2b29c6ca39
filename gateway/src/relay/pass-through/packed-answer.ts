import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { bounds, type Failure, type Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "#protocols/index.ts";

/** More than that comes out of no answer that is listened to: unpacking blocks the loop. */
const unpackedMax = 8 * 1024 * 1024;
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
    return unpack(bytes, { maxOutputLength: Math.min(unpackedMax, bounds.replyBytesMax) });
  } catch {
    return null;
  }
}

/** Passes a packed stream as it comes, and listens to it once it has ended. What is too long is estimated by its bytes. */
export class PackedTap implements StreamTap {
  readonly isRaw = true;
  readonly ended = false;
  readonly failure: Failure | null = null;
  readonly id = null;
  events = 0;
  readonly #inner: StreamTap;
  readonly #encoding: string;
  #kept: Uint8Array[] = [];
  #bytes = 0;

  constructor(inner: StreamTap, encoding: string) {
    this.#inner = inner;
    this.#encoding = encoding;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length > 0) this.events++;
    this.#bytes += chunk.length;
    // The bytes go on to the caller, whose buffer they become.
    if (this.#bytes <= keptMax) this.#kept.push(chunk.slice());
    else this.#kept = [];
    return chunk;
  }

  get usage(): UsageReading | null {
    this.#listen();
    return this.#inner.usage;
  }

  get served(): Served | undefined {
    return this.#inner.served;
  }

  get usageFinal(): boolean {
    return this.#inner.usageFinal;
  }

  /** Packed text has two bytes or more to the token. */
  get outputEstimate(): number {
    return this.#inner.usage === null ? Math.ceil(this.#bytes / 2) : this.#inner.outputEstimate;
  }

  get contentSeen(): boolean {
    return this.#bytes > 0;
  }

  complete(): boolean {
    this.#listen();
    return true;
  }

  rest(): Uint8Array {
    return noBytes;
  }

  /** Of a stream that goes on nothing can be unpacked yet; what is asked of it again then is asked of all that came. */
  #listen(): void {
    if (this.#kept.length === 0) return;
    const unpacked = unpackedAnswer(Buffer.concat(this.#kept), this.#encoding);
    if (unpacked === null) return;
    this.#kept = [];
    try {
      this.#inner.push(unpacked);
    } catch {
      // It is passed all the same.
    }
  }
}

const noBytes = new Uint8Array(0);
