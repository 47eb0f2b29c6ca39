import {
  type CallSignal,
  type Failure,
  type HeaderReader,
  type LiveBody,
  type MemoryOwner,
  readableOf,
} from "#core/index.ts";
import type { ServerAnswer } from "#http-server/index.ts";

/** A request as endpoints use it: the runtime's own, or one of our server. */
export interface CallRequest extends Pick<Request, "method" | "url" | "body" | "bytes"> {
  readonly headers: HeaderReader;
  /** Ends when the caller has gone. */
  readonly signal: CallSignal;
  /** All of the body where it is here already; else null, and nothing was read. Absent: that cannot be known. */
  arrived?(): Uint8Array | null;
  /** Whose memory its answer takes until it is read. Absent: the server does not count it. */
  heldFor?(owner: MemoryOwner): void;
  /** Calls `hear` once, with why the answer did not reach its caller; null: all of it has left. Absent: that cannot be known. */
  whenAnswered?(hear: (failure: Failure | null) => void): void;
}

/** What an endpoint answers with: the runtime's own, or what is cheaper to write. */
export type Answer = Response | ServerAnswer;

export function asResponse(answer: Answer): Response {
  if (answer instanceof Response) return answer;
  const { status, headers, body } = answer;
  return new Response(bodyInit(body), { status, headers });
}

/** As the runtime takes it. */
function bodyInit(
  body: Uint8Array | ReadableStream<Uint8Array> | LiveBody | null,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (body === null || body instanceof ReadableStream) return body;
  return body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : readableOf(body);
}
