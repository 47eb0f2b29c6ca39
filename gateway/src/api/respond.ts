import { type Failure, retryAfter } from "#core/index.ts";
import { type Dialect, openaiChat } from "#protocols/index.ts";

export function json(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });
}

/** A failure in the caller's dialect. An upstream's own error of the same dialect is returned unchanged. */
export function renderFailure(
  failure: Failure,
  requestId: string,
  headers: Record<string, string> = {},
  dialect: Dialect = openaiChat,
): Response {
  headers["x-request-id"] = requestId;
  // Without it Anthropic's and OpenAI's clients would retry a bad key for minutes.
  if (failure.status === 401) headers["x-should-retry"] = "false";
  if (dialect.errorShape === "anthropic") headers["request-id"] = requestId;
  Object.assign(headers, retryAfter(failure.retryAfterMs));
  if (failure.upstream !== undefined) {
    headers["content-type"] = failure.upstream.contentType;
    return new Response(failure.upstream.body, { status: failure.upstream.status, headers });
  }
  headers["content-type"] = "application/json";
  return new Response(dialect.renderError(failure, requestId), { status: failure.status, headers });
}
