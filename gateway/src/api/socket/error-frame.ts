import { asFailure, type Failure } from "#core/index.ts";
import { responsesProtocol } from "../endpoint-protocols.ts";
import { renderFailure } from "../respond.ts";

/** What an `error` event tells beside the error of its HTTP answer. */
export interface ErrorFrame {
  readonly status: number;
  readonly text: string;
}

/** An answer that is no stream, as OpenAI tells it over a WebSocket: its status, its error, and its headers. */
export async function errorFrame(answer: Response): Promise<ErrorFrame> {
  const error = errorIn(await answer.text());
  return frameOf(answer, answer.status === 400 || answer.status === 404 ? unknownPrevious(error) : error);
}

/** With OpenAI's code, at which clients send the whole conversation again. */
function unknownPrevious(error: Record<string, unknown>): Record<string, unknown> {
  return error["param"] === "previous_response_id" ? { ...error, code: "previous_response_not_found" } : error;
}

/** A failure that was met before there was a request. */
export async function failureFrame(thrown: unknown, requestId: string): Promise<ErrorFrame> {
  const failure: Failure = asFailure(thrown);
  const answer = renderFailure(failure, requestId, {}, responsesProtocol.dialect);
  const error = errorIn(await answer.text());
  return frameOf(answer, failure.code === "not_found" ? unknownPrevious(error) : error);
}

function frameOf({ status, headers: all }: Response, said: Record<string, unknown>): ErrorFrame {
  const headers = Object.fromEntries([...all].filter(([name]) => name !== "content-type"));
  const error = { ...said, code: said["code"] ?? said["type"] ?? "error" };
  return { status, text: JSON.stringify({ type: "error", status, error, headers }) };
}

/** An error of the WebSocket itself, by OpenAI's codes for those. */
export function socketError(status: number, code: string, message: string): string {
  return JSON.stringify({
    type: "error",
    status,
    error: { type: "invalid_request_error", code, message, param: null },
  });
}

function errorIn(text: string): Record<string, unknown> {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === "object" && error !== null) return { ...error };
  } catch {
    // Said as far as it can be.
  }
  return { type: "upstream_error", code: "upstream_error", message: text.slice(0, 1_000), param: null };
}
