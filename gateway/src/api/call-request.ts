import {
  abortSignalOf,
  type CallSignal,
  Failure,
  type HeaderReader,
  type MemoryOwner,
  readableOf,
} from "#core/index.ts";
import type { ServerAnswer } from "#http-server/index.ts";

/** A request as endpoints use it: one of our server, or the runtime's. */
export interface CallRequest extends Pick<Request, "method" | "url" | "body" | "bytes"> {
  readonly headers: HeaderReader;
  /** Aborts when the caller is gone. */
  readonly signal: CallSignal;
  /** The whole body if it has arrived; else null, and nothing is read. Absent: unknown. */
  arrived?(): Uint8Array | null;
  /** Sets the owner of the memory of its answer. Absent: that memory is not accounted for. */
  heldFor?(owner: MemoryOwner): void;
  /** Calls `act` once: with null when the whole answer was sent, or with the reason why it was not. Absent: unknown. */
  whenAnswered?(act: (failure: Failure | null) => void): void;
}

/** An answer of an endpoint: the runtime's Response, or ours, which is cheaper. */
export type Answer = Response | ServerAnswer;

export function asResponse(answer: Answer): Response {
  if (answer instanceof Response) return answer;
  const { status, headers, body } = answer;
  const isRuntimes = body === null || body instanceof ReadableStream || body instanceof Uint8Array;
  type RuntimeBody = ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null;
  return new Response(isRuntimes ? (body as RuntimeBody) : readableOf(body), { status, headers });
}

/** The runtime's Request, for code that takes no other. Throws Failure if there cannot be one. */
export function asRequest(request: CallRequest): Request {
  if (request instanceof Request) return request;
  const { method, url, headers, signal } = request;
  if (!URL.canParse(url)) throw new Failure("invalid_request", "The Host header is not valid.");
  const made = new Request(url, {
    method,
    headers: [...headers],
    body: method === "GET" || method === "HEAD" ? null : request.body,
    signal: abortSignalOf(signal),
  });
  // The runtime reads an unknown method as GET.
  if (made.method !== method) throw new Failure("method_not_allowed", `Method ${method} is not supported.`);
  return made;
}
