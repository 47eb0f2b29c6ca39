import { type Failure, failureTable } from "#core/index.ts";

/** An answer under /api/auth: JSON that nobody keeps, with the cookies that go with it. */
export function answerJson(value: object, cookies: readonly string[] = []): Response {
  return withCookies(Response.json(value, { headers: { "cache-control": "no-store" } }), cookies);
}

/** On to a page of our own. */
export function answerRedirect(path: string, cookies: readonly string[] = []): Response {
  const headers = { location: path, "cache-control": "no-store" };
  return withCookies(new Response(null, { status: 302, headers }), cookies);
}

/** A failure in the shape that every control call has. */
export function answerFailure(failure: Failure): Response {
  const { type } = failureTable[failure.code];
  const error = { message: failure.message, type, param: failure.param, code: failure.code, ...failure.details };
  const answer = Response.json({ error }, { status: failure.status, headers: { "cache-control": "no-store" } });
  if (failure.retryAfterMs !== undefined) {
    answer.headers.set("retry-after", String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))));
  }
  return answer;
}

function withCookies(answer: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) answer.headers.append("set-cookie", cookie);
  return answer;
}
