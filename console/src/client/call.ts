import { reportOutcome } from "./connection.ts";
import { isAbort, problemOf, unreachable } from "./problem.ts";

/** Resolves at the status line of a successful response; throws a Problem for any other. Abort errors are rethrown. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await answerOf(path, init);
    reportOutcome(null);
    return response;
  } catch (thrown) {
    reportOutcome(thrown);
    throw thrown;
  }
}

async function answerOf(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, { ...init, credentials: "same-origin", cache: "no-store" }).catch(
    (thrown: unknown) => {
      throw isAbort(thrown) ? thrown : unreachable(thrown);
    },
  );
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** The JSON of a successful answer; null for an answer without a body. */
export async function sendJson(
  path: string,
  init: { readonly method: string; readonly body: string | null; readonly signal: AbortSignal | null },
): Promise<unknown> {
  const headers = init.body === null ? {} : { "content-type": "application/json" };
  const response = await send(path, { ...init, headers });
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}
