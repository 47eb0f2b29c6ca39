import { bounds, Failure } from "#core/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";

/** Reads a JSON body whole, within bounds. Throws Failure 408, 413 or 415. */
export async function readJsonBody(request: Request, deadlines: BodyDeadlines): Promise<Uint8Array> {
  requireJson(request.headers);
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bounds.requestBodyBytesMax) throw tooLarge();
  const reading = declared === null ? readUnmeasured(request) : request.bytes();
  try {
    return await deadlines.within(reading);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
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

function requireJson(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "" && encoding.toLowerCase() !== "identity") {
    throw new Failure("unsupported_media_type", `The content encoding "${encoding}" is not supported here.`);
  }
  const type = headers.get("content-type");
  if (type === null || type === "application/json") return;
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (essence === "application/json" || essence.endsWith("+json")) return;
  throw new Failure("unsupported_media_type", "The body must be JSON: send `content-type: application/json`.");
}

function tooLarge(): Failure {
  return new Failure("request_too_large", `The body is larger than ${bounds.requestBodyBytesMax} bytes.`);
}
