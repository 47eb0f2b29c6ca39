import { bounds, type CallerMemory, type Failure, type MemoryOwner, type Redactor } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import type { Delivery } from "../call.ts";
import { passAtOnce } from "./answer-headers.ts";
import { AnswerStream } from "./answer-stream.ts";
import { type BegunAttempt, drains } from "./run-attempt.ts";
import { readStreamStart, type StreamStart } from "./stream-start.ts";

export interface OpenStreamOptions {
  readonly tap: StreamTap;
  /** Asked once there is an event. */
  readonly begun: (tap: StreamTap) => boolean;
  /** Throws if the stream is not to be passed on. */
  readonly check: (cut: StreamStart["cut"]) => void;
  readonly headers: () => Record<string, string>;
  /** Turns an error that the tap found into the caller's. */
  readonly inStream: (failure: Failure) => Failure;
}

/** Passes a stream on once it has begun. */
export async function openStream(
  attempt: BegunAttempt,
  answer: OutboundAnswer,
  { tap, begun, check, headers: headersOf, inStream }: OpenStreamOptions,
): Promise<Delivery> {
  const { dependencies, call, selection, tally, entry } = attempt;
  const { provider } = selection.deployment;
  const { firstEventMs, idleMs } = provider.timeouts;
  const { clock, memory } = dependencies;
  const { status } = answer;
  const place = memory.open(call.principal, "event");
  try {
    entry.stream = tap;
    const redactor = (): Redactor => entry.redactor;
    const start = await readStreamStart({ clock, answer, tap, place, firstEventMs, idleMs, begun, redactor });
    check(start.cut);
    entry.begin(tap);
    const headers = headersOf();
    if (start.cut !== null && tap.events === 0) {
      entry.finish(status, tap);
      tally.end();
      return { status, headers, body: new Uint8Array(0) };
    }
    passAtOnce(headers);
    const stream = new AnswerStream({
      ...{ dependencies, call, entry, answer, tap, start, place, idleMs, inStream, redactor },
      dialect: call.protocol.dialect,
      over: () => tally.end(),
      drains: drains(call, provider),
    });
    return { status, headers, body: stream.open() };
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

/** Reads a whole answer, held while it is used. Throws upstream_error for one that is too large, and what the memory throws. */
export async function readWhole<T>(
  memory: CallerMemory,
  owner: MemoryOwner,
  { answer, idleMs }: { readonly answer: OutboundAnswer; readonly idleMs: number },
  use: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  const held = memory.open(owner, "answer");
  try {
    return await use(await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs, (bytes) => held.hold(bytes)));
  } finally {
    held.release();
  }
}
