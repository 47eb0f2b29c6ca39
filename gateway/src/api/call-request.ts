import type { ServerAnswer } from "#http-server/index.ts";

/** A request as endpoints use it: the runtime's own, or one of our server. */
export type CallRequest = Pick<Request, "method" | "url" | "headers" | "body" | "bytes" | "signal">;

/** What an endpoint answers with: the runtime's own, or what is cheaper to write. */
export type Answer = Response | ServerAnswer;

export function asResponse(answer: Answer): Response {
  if (answer instanceof Response) return answer;
  const { status, headers, body } = answer;
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null, { status, headers });
}
