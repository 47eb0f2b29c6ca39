import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { bounds, Failure } from "#core/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";

/** Reads a JSON body whole and unpacked, within bounds. Throws Failure 400, 408, 413 or 415. */
export async function readJsonBody(request: Request, deadlines: BodyDeadlines): Promise<Uint8Array> {
  requireJson(request.headers);
  const unpack = unpackerOf(request.headers.get("content-encoding"));
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bounds.requestBodyBytesMax) throw tooLarge();
  const reading = declared === null ? readUnmeasured(request) : request.bytes();
  let body: Uint8Array;
  try {
    body = await deadlines.within(reading);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
  return unpack === null ? body : unpacked(body, unpack);
}

/** A body without a length is read piece by piece, so that the bound holds however much is sent. */
async function readUnmeasured(request: Request): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const piece = await reader.read();
    if (piece.done) return Buffer.concat(pieces, size);
    size += piece.value.length;
    if (size > bounds.requestBodyBytesMax) {
      await reader.cancel();
      throw tooLarge();
    }
    pieces.push(piece.value);
  }
}

type Unpack = (body: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

/** These run beside the event loop, on threads of the runtime. */
const unpackers: ReadonlyMap<string, Unpack> = new Map([
  ["gzip", promisify(gunzip) as Unpack],
  ["x-gzip", promisify(gunzip) as Unpack],
  ["deflate", promisify(inflate) as Unpack],
  ["br", promisify(brotliDecompress) as Unpack],
  ["zstd", promisify(zstdDecompress) as Unpack],
]);

/** null: the body is as it is. */
function unpackerOf(encoding: string | null): Unpack | null {
  if (encoding === null || encoding === "") return null;
  const name = encoding.trim().toLowerCase();
  if (name === "identity") return null;
  const unpack = unpackers.get(name);
  if (unpack !== undefined) return unpack;
  throw new Failure(
    "unsupported_media_type",
    `The content encoding "${encoding.slice(0, 40)}" is not supported; gzip, br, zstd and deflate are.`,
  );
}

/**
 * The bound holds for what comes out: a small body may stand for a very large one. One that is packed denser than any
 * text is stopped early, or a few hundred such bytes at once would take all memory.
 */
async function unpacked(body: Uint8Array, unpack: Unpack): Promise<Uint8Array> {
  const dense = Math.max(bounds.unpackedBytesMin, body.length * bounds.unpackedRatioMax);
  try {
    return await unpack(body, { maxOutputLength: Math.min(bounds.requestBodyBytesMax, dense) });
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new Failure("invalid_request", "The body cannot be decompressed.", { cause: thrown });
  }
}

function requireJson(headers: Headers): void {
  const type = headers.get("content-type");
  if (type === null || type === "application/json") return;
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (essence === "application/json" || essence.endsWith("+json")) return;
  throw new Failure("unsupported_media_type", "The body must be JSON: send `content-type: application/json`.");
}

export function tooLarge(): Failure {
  return new Failure("request_too_large", `The body is larger than ${bounds.requestBodyBytesMax} bytes.`);
}
