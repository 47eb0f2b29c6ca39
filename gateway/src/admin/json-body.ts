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
  return await readTextWithin(request, bounds.controlBodyBytesMax);
}

export async function readTextWithin(request: Request, bytesMax: number): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > bytesMax) throw tooLarge(bytesMax);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(bytesMax: number): Failure {
  return new Failure("request_too_large", `The body of a control call has at most ${bytesMax} bytes.`);
}
