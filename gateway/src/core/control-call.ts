import { Failure, failureTable } from "./failure.ts";
import { controlCharacters, controlsMessage } from "./texts.ts";

/** Shared by the admin API and sign-in: reading a body and answering with a failure. */

/** Reads a body as text. `what` names the body in errors. */
export async function readBodyText({ headers, body }: Request, bytesMax: number, what: string): Promise<string> {
  const tooLarge = () => new Failure("request_too_large", `${what} has at most ${bytesMax} bytes.`);
  if (Number(headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for await (const piece of body ?? []) {
      size += piece.byteLength;
      if (size > bytesMax) throw tooLarge();
      text += decoder.decode(piece, { stream: true });
    }
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
  return text + decoder.decode();
}

/** The JSON of a body. Throws `request_too_large`, `invalid_json`, and `invalid_request` for control characters in it. */
export async function readBodyJson(request: Request, bytesMax: number, what: string): Promise<unknown> {
  const text = await readBodyText(request, bytesMax, what);
  return withoutControls(parsed(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid_json", "The body is not valid JSON.", { cause });
  }
}

/** Returns the value. Throws `invalid_request` if a text in it has control characters. */
export function withoutControls<Value>(value: Value): Value {
  for (const path of controlCharacters(value)) throw schemaFailure({ path, message: controlsMessage }, controlsMessage);
  return value;
}

export function hasJsonBody({ headers }: Request): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

/** The token of an `Authorization: Bearer` header. */
export function bearerToken({ headers }: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The first problem of a schema check, with its path as `param`. `otherwise`: the message if there is none. */
export function schemaFailure(problem: SchemaProblem | undefined, otherwise: string): Failure {
  const param = problem?.path.join(".") ?? "";
  const named = param === "" ? "" : `\`${param}\`: `;
  return new Failure("invalid_request", `${named}${problem?.message ?? otherwise}`, {
    param: param === "" ? null : param,
  });
}

/** Answers with OpenAI's error shape, as on the data plane. */
export function failureAnswer(failure: Failure): Response {
  const { type } = failureTable[failure.code];
  const error = { message: failure.message, type, param: failure.param, code: failure.code, ...failure.details };
  const headers = { "cache-control": "no-store", ...retryAfter(failure.retryAfterMs) };
  return Response.json({ error }, { status: failure.status, headers });
}

/** In whole seconds, at least one; no header without `ms`. */
export function retryAfter(ms: number | undefined): Readonly<Record<string, string>> {
  return ms === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(ms / 1_000))) };
}
