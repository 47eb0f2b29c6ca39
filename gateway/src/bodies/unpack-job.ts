import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { Failure } from "#core/index.ts";

type Unpack = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** Throws for an unknown encoding, for malformed bytes, and for more than `bytesMax`. */
export function unpack(body: Uint8Array, encoding: string, bytesMax: number): Uint8Array {
  const unpacked = unpacks[encoding]?.(body, { maxOutputLength: bytesMax });
  if (unpacked === undefined) throw new Error(`Unknown encoding ${encoding}.`);
  return unpacked;
}

export function canUnpack(encoding: string): boolean {
  return Object.hasOwn(unpacks, encoding);
}

const unpacks: Readonly<Record<string, Unpack>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Decompresses a body. */
export function unpackBody(
  body: Uint8Array,
  { encoding, bytesMax }: { readonly encoding: string; readonly bytesMax: number },
) {
  try {
    return { made: unpack(body, encoding, bytesMax), answer: null };
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") {
      throw new Failure("request_too_large", "The body is too large after decompression.");
    }
    throw new Failure("invalid_request", "The body cannot be decompressed.", { cause: thrown });
  }
}
