import { type Failure, failureTable } from "#core/index.ts";

/** A failure as the JSON that every control call answers with; the shape is OpenAI's, as on the data plane. */
export function failureAnswer(failure: Failure): Response {
  const response = Response.json(
    {
      error: {
        message: failure.message,
        type: failureTable[failure.code].type,
        param: failure.param,
        code: failure.code,
        ...failure.details,
      },
    },
    { status: failure.status, headers: { "cache-control": "no-store" } },
  );
  if (failure.retryAfterMs !== undefined) {
    response.headers.set("retry-after", String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))));
  }
  return response;
}
