import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { type BodyBytes, type BodyWork, notUnpacked, outcomeOf, sizeOf, wholeOf } from "#bodies/index.ts";
import { bounds, type CallSignal, Failure, type HeldMemory } from "#core/index.ts";
import type { BodyRules } from "./body-rules.ts";

type Unpacker = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

/** For what is small: they run beside the event loop, but put the pieces together on it. */
const unpackers: ReadonlyMap<string, Unpacker> = new Map([
  ["gzip", promisify(gunzip) as Unpacker],
  ["x-gzip", promisify(gunzip) as Unpacker],
  ["deflate", promisify(inflate) as Unpacker],
  ["br", promisify(brotliDecompress) as Unpacker],
  ["zstd", promisify(zstdDecompress) as Unpacker],
]);

/** null: the body is as it is. Throws unsupported_media_type. */
export function encodingOf(header: string | null): string | null {
  if (header === null || header === "") return null;
  const name = header.trim().toLowerCase();
  if (name === "identity") return null;
  if (unpackers.has(name)) return name;
  throw new Failure(
    "unsupported_media_type",
    `The content encoding "${header.slice(0, 40)}" is not supported; gzip, br, zstd and deflate are.`,
  );
}

export interface PackedBody {
  readonly body: BodyBytes;
  readonly encoding: string;
  readonly place: HeldMemory;
  readonly rules: BodyRules;
  readonly work: BodyWork;
  readonly signal: CallSignal;
}

/**
 * The bound holds for what comes out: a small body may stand for a very large one. One that is packed denser than any
 * text is stopped early, or a few hundred such bytes at once would take all memory. Room is taken for the most that may
 * come out before anything does.
 */
export async function unpack({ body, encoding, place, rules, work, signal }: PackedBody): Promise<Uint8Array> {
  const size = sizeOf(body);
  const dense = Math.max(bounds.unpackedBytesMin, size * bounds.unpackedRatioMax);
  const bytesMax = Math.min(rules.bytesMax, dense);
  place.hold(size + bytesMax);
  const unpacked =
    size <= bounds.unpackInPlaceBytesMax
      ? await unpackHere(wholeOf(body), encoding, bytesMax)
      : outcomeOf(await work.do("unpack", { encoding, bytesMax }, body, { signal, owner: place.owner })).made;
  if (unpacked === null) throw new Error("a job made nothing");
  place.hold(unpacked.length);
  return unpacked;
}

async function unpackHere(body: Uint8Array, encoding: string, bytesMax: number): Promise<Uint8Array | null> {
  try {
    return (await unpackers.get(encoding)?.(body, { maxOutputLength: bytesMax })) ?? null;
  } catch (thrown) {
    throw notUnpacked(thrown);
  }
}
