import type { z } from "zod";
import { bounds, Failure } from "#core/index.ts";

/** The JSON body of a call, within its bound and exactly of its shape. */
export async function readBody<Body>(request: Request, schema: z.ZodType<Body>): Promise<Body> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    throw new Failure("unsupported_media_type", "The body must be application/json.");
  }
  const read = schema.safeParse(parsed(await readText(request)));
  if (read.success) return read.data;
  const problem = read.error.issues[0];
  const param = problem?.path.join(".") ?? "";
  const named = param === "" ? "" : `\`${param}\`: `;
  throw new Failure("invalid_request", `${named}${problem?.message ?? "the body cannot be used"}`, {
    param: param === "" ? null : param,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure("invalid_json", "The body is not valid JSON.");
  }
}

/** Throws client_closed when the caller leaves before its end. */
async function* arriving({ body }: Request): AsyncIterable<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (thrown) {
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
}

async function readText(request: Request): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of arriving(request)) {
    size += piece.byteLength;
    if (size > bounds.controlBodyBytesMax) {
      throw new Failure("request_too_large", `The body has at most ${bounds.controlBodyBytesMax} bytes.`);
    }
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
