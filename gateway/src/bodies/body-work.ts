import { type CallSignal, Failure, type MemoryOwner } from "#core/index.ts";
import type { Offload } from "#ports/index.ts";
import { type BodyBytes, sizeOf, wholeOf } from "./body-bytes.ts";
import {
  type BodyAnswer,
  type BodyAsk,
  type BodyJobKind,
  doBodyJob,
  failureOf,
  inPlaceBytesMax,
  type WorkOrder,
  type WorkReply,
} from "./do-body-job.ts";
import type { JobContext } from "./translation-jobs.ts";

/** What came of a job. `body` is what was given, to be used from now on in its place: it may have been to a thread and back. */
export interface WorkedOn<Kind extends BodyJobKind> {
  readonly body: Uint8Array;
  readonly outcome: BodyOutcome<Kind> | Failure;
}

export interface BodyOutcome<Kind extends BodyJobKind> {
  readonly made: Uint8Array | null;
  readonly answer: BodyAnswer<Kind>;
}

export interface BodyWorkOptions extends JobContext {
  /** null: everything is done where it is. */
  readonly offload: Offload | null;
}

/** Has jobs on bodies done: small ones at once, larger ones in threads. */
export class BodyWork {
  readonly #options: BodyWorkOptions;

  constructor(options: BodyWorkOptions) {
    this.#options = options;
  }

  /**
   * Gives a body away to a job: the caller's own view of it is empty afterwards. Pieces are put together by the job. Rejects with Failure when no thread could do
   * it; then the body is lost.
   */
  async do<Kind extends BodyJobKind>(
    kind: Kind,
    ask: BodyAsk<Kind>,
    body: BodyBytes,
    {
      beside = [],
      signal = null,
      owner = null,
    }: {
      readonly beside?: readonly Uint8Array[];
      readonly signal?: CallSignal | null;
      readonly owner?: MemoryOwner | null;
    } = {},
  ): Promise<WorkedOn<Kind>> {
    const { offload } = this.#options;
    const size = sizeOf(body) + sizeOf(beside);
    let reply: WorkReply<Kind>;
    if (offload === null || size <= inPlaceBytesMax(kind)) {
      reply = doBodyJob({ kind, ask, body: wholeOf(body), beside }, this.#options);
    } else {
      const order: WorkOrder<Kind> = { kind, ask, body: movableBody(body), beside: beside.map(movable) };
      reply = (await offload.run(order, size, buffersOf(order), { signal, owner })) as WorkReply<Kind>;
    }
    const { failure, made, answer } = reply;
    return {
      body: reply.body,
      outcome: failure === null ? { made, answer: answer as BodyAnswer<Kind> } : failureOf(failure),
    };
  }
}

/** What was made and answered, or throws. */
export function outcomeOf<Kind extends BodyJobKind>({ outcome }: WorkedOn<Kind>): BodyOutcome<Kind> {
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}

/** Pieces of one body may stand in one buffer: they are moved together. */
function movableBody(body: BodyBytes): BodyBytes {
  if (body instanceof Uint8Array) return movable(body);
  return body.map((piece) => (piece.buffer.byteLength > sharedBytesMax ? piece : new Uint8Array(piece)));
}

/** Bytes whose buffer is theirs alone: a small one may be a part of one that others stand in too. */
function movable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const own = buffer instanceof ArrayBuffer && bytes.byteOffset === 0 && buffer.byteLength > sharedBytesMax;
  return own ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** The runtime cuts small buffers out of shared ones of this size. */
const sharedBytesMax = 8 * 1024;

function buffersOf({ body, beside }: WorkOrder): ArrayBuffer[] {
  const pieces = body instanceof Uint8Array ? [body] : body;
  return [...new Set([...pieces, ...beside].map(({ buffer }) => buffer as ArrayBuffer))];
}
