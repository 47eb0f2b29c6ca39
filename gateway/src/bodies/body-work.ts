import { type CallSignal, Failure, type MemoryOwner } from "#core/index.ts";
import type { Offload } from "#ports/index.ts";
import { type BodyBytes, sizeOf, wholeOf } from "./body-bytes.ts";
import {
  type BodyAnswer,
  type BodyAsk,
  type BodyJobKind,
  type BodyMade,
  doBodyJob,
  failureOf,
  inPlaceBytesMax,
  type WorkOrder,
  type WorkReply,
} from "./do-body-job.ts";
import type { JobContext } from "./translation-jobs.ts";

/** The result of a job. `body` replaces the given body, whose bytes may have been moved to a thread and back. */
export interface WorkedOn<Kind extends BodyJobKind> {
  readonly body: Uint8Array;
  readonly outcome: BodyOutcome<Kind> | Failure;
}

export interface BodyOutcome<Kind extends BodyJobKind> {
  readonly made: BodyMade<Kind>;
  readonly answer: BodyAnswer<Kind>;
}

export interface BodyWorkOptions extends Pick<JobContext, "newId"> {
  /** null: everything is done in place. */
  readonly offload: Offload | null;
}

/** Runs jobs on bodies: small ones in place, larger ones in threads. */
export class BodyWork {
  readonly #options: BodyWorkOptions;

  constructor(options: BodyWorkOptions) {
    this.#options = options;
  }

  /**
   * Moves a body to a job: the caller's own view of it is empty afterwards. The job joins pieces. `warn` takes warnings for the caller
   * of the gateway. Rejects with Failure if no thread could do the job; then the body is lost.
   */
  async do<Kind extends BodyJobKind>(
    kind: Kind,
    ask: BodyAsk<Kind>,
    body: BodyBytes,
    {
      beside = [],
      signal = null,
      owner = null,
      warn,
    }: {
      readonly beside?: readonly Uint8Array[];
      readonly signal?: CallSignal | null;
      readonly owner?: MemoryOwner | null;
      readonly warn?: (warning: string) => void;
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
    const { body: given, failure, made, answer, warnings } = reply;
    if (warn !== undefined) for (const warning of warnings) warn(warning);
    if (failure !== null) return { body: given, outcome: failureOf(failure) };
    return { body: given, outcome: { made: made as BodyMade<Kind>, answer: answer as BodyAnswer<Kind> } };
  }
}

/** Throws the job's failure. */
export function outcomeOf<Kind extends BodyJobKind>({ outcome }: WorkedOn<Kind>): BodyOutcome<Kind> {
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}

/** Pieces of one body may share a buffer: they are moved together. */
function movableBody(body: BodyBytes): BodyBytes {
  if (body instanceof Uint8Array) return movable(body);
  return body.map((piece) => (piece.buffer.byteLength > sharedBytesMax ? piece : new Uint8Array(piece)));
}

/** Bytes that own their buffer: small ones may share it with others, and are copied. */
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
