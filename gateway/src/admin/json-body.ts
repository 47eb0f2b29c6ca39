import { bounds, Failure, readBodyText } from "#core/index.ts";

/** The JSON of a control call, read within its bound. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readText(request, bounds.controlBodyBytesMax);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid_json", "The body is not valid JSON.", { cause });
  }
}

export async function readText(request: Request, bytesMax: number): Promise<string> {
  return await readBodyText(request, bytesMax, "The body of a control call");
}
