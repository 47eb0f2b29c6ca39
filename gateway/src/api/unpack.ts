import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { bounds, Failure } from "#core/index.ts";
import type { BodyPlace } from "./body-room.ts";
import type { BodyRules } from "./body-rules.ts";

export type Unpacker = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

/** These run beside the event loop, on threads of the runtime. */
const unpackers: ReadonlyMap<string, Unpacker> = new Map([
  ["gzip", promisify(gunzip) as Unpacker],
  ["x-gzip", promisify(gunzip) as Unpacker],
  ["deflate", promisify(inflate) as Unpacker],
  ["br", promisify(brotliDecompress) as Unpacker],
  ["zstd", promisify(zstdDecompress) as Unpacker],
]);

/** null: the body is as it is. Throws unsupported_media_type. */
export function unpackerOf(encoding: string | null): Unpacker | null {
  if (encoding === null || encoding === "") return null;
  const name = encoding.trim().toLowerCase();
  if (name === "identity") return null;
  const unpacker = unpackers.get(name);
  if (unpacker !== undefined) return unpacker;
  throw new Failure(
    "unsupported_media_type",
    `The content encoding "${encoding.slice(0, 40)}" is not supported; gzip, br, zstd and deflate are.`,
  );
}

/**
 * The bound holds for what comes out: a small body may stand for a very large one. One that is packed denser than any
 * text is stopped early, or a few hundred such bytes at once would take all memory. Room is taken for the most that may
 * come out before anything does.
 */
export async function unpack(
  body: Uint8Array,
  unpacker: Unpacker,
  place: BodyPlace,
  { bytesMax }: BodyRules,
): Promise<Uint8Array> {
  const dense = Math.max(bounds.unpackedBytesMin, body.length * bounds.unpackedRatioMax);
  const most = Math.min(bytesMax, dense);
  place.hold(body.length + most);
  try {
    const unpacked = await unpacker(body, { maxOutputLength: most });
    place.hold(unpacked.length);
    return unpacked;
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") {
      throw new Failure("request_too_large", `The body is larger than ${bytesMax} bytes when it is unpacked.`);
    }
    throw new Failure("invalid_request", "The body cannot be decompressed.", { cause: thrown });
  }
}
