import { bounds, Failure } from "#core/index.ts";

/** The JSON of a control call, read within its bound. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readText(request);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid_json", "The body is not valid JSON.", { cause });
  }
}

/** The text of a control call, read within its bound. */
export async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > bounds.controlBodyBytesMax) throw tooLarge();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > bounds.controlBodyBytesMax) throw tooLarge();
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(): Failure {
  return new Failure(
    "request_too_large",
    `The body of a control call has at most ${bounds.controlBodyBytesMax} bytes.`,
  );
}
