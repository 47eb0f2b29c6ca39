import { bounds, type CallerMemory, type Failure, type HeldMemory, type MemoryOwner } from "#core/index.ts";
import type { Clock, OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import type { Delivery } from "../call.ts";
import { passAtOnce } from "./answer-headers.ts";
import { AnswerStream } from "./answer-stream.ts";
import { PieceQueue } from "./piece-queue.ts";
import { drains, type RunningAttempt } from "./run-attempt.ts";

/**
 * How long a stream with events and no content yet is held back. An overloaded upstream fails within seconds; a model that thinks
 * for minutes may send nothing else meanwhile, and its caller must see that the answer has begun.
 */
const preambleMs = 10_000;
/** The same without any event: below the minute after which proxies give up a silent connection. */
const silenceMs = 45_000;

/** The part of a stream that was read until it began, failed or ended. */
interface StreamStart {
  readonly waiting: PieceQueue;
  /** "ended": its bytes are over. "too long": it sent only comments. */
  readonly cut: "ended" | "too long" | null;
  /** The read that was under way when the preamble was released. */
  readonly pending: Promise<Uint8Array | null> | null;
}

interface OpenStreamOptions {
  readonly tap: StreamTap;
  /** Asked once there is an event. */
  readonly begun: (tap: StreamTap) => boolean;
  /** Throws if the stream is not to be passed on. */
  readonly check: (cut: StreamStart["cut"]) => void;
  readonly headers: () => Record<string, string>;
  /** Turns an error that the tap found into the caller's. */
  readonly inStream: (failure: Failure) => Failure;
}

export async function openStream(
  attempt: RunningAttempt,
  answer: OutboundAnswer,
  options: OpenStreamOptions,
): Promise<Delivery> {
  const { dependencies, call, selection, tally, entry } = attempt;
  const { tap, inStream } = options;
  const { provider } = selection.deployment;
  const { idleMs } = provider.timeouts;
  const { status, body } = answer;
  const place = dependencies.memory.open(call.principal, "event");
  try {
    entry.money.stream = tap;
    const start = await readStreamStart(attempt, answer, options, place);
    options.check(start.cut);
    entry.begin(tap);
    const headers = options.headers();
    if (start.cut !== null && tap.events === 0) {
      entry.finish(status, tap);
      tally.end();
      return { status, headers, body: new Uint8Array(0) };
    }
    passAtOnce(headers);
    const stream = new AnswerStream({
      ...{ dependencies, call, entry, tally, tap, ...start, place, idleMs, inStream },
      answer: { status, body },
      drains: drains(call, provider),
    });
    return { status, headers, body: stream.open() };
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

/**
 * Reads a stream until it has begun, so that a failure before that has a status, or is tried elsewhere. A stream that is released
 * in silence (no event, and a read that is `pending`) has not answered yet.
 */
async function readStreamStart(
  { dependencies: { clock }, selection, entry }: RunningAttempt,
  { body }: OutboundAnswer,
  { tap, begun }: OpenStreamOptions,
  place: HeldMemory,
): Promise<StreamStart> {
  const { firstEventMs, idleMs } = selection.deployment.provider.timeouts;
  const firstEventBy = clock.monotonic() + firstEventMs;
  const waiting = new PieceQueue(entry);
  let release = releaseAfter(clock, silenceMs);
  const start = (cut: StreamStart["cut"], pending: StreamStart["pending"] = null): StreamStart => ({
    ...{ waiting, cut, pending },
  });
  try {
    for (;;) {
      let piece = body.here?.() ?? null;
      if (piece === null) {
        const pending =
          tap.events === 0
            ? body.read("first_event", Math.max(1, firstEventBy - clock.monotonic()))
            : body.read("idle", idleMs);
        const next = await Promise.race([pending, release.due]);
        if (next === "due") {
          pending.catch(() => {});
          return start(null, pending);
        }
        if (next === null) return start("ended");
        piece = next;
      }
      const before = tap.events;
      waiting.add(tap.push(piece), tap);
      place.hold(waiting.bytes + (tap.held ?? 0));
      const isFull = waiting.bytes > bounds.eventBytesMax;
      if (tap.events === 0) {
        if (isFull) return start("too long");
        continue;
      }
      if (tap.failure !== null || tap.ended || isFull || begun(tap)) return start(null);
      if (before > 0) continue;
      release.stop();
      release = releaseAfter(clock, preambleMs);
    }
  } finally {
    release.stop();
  }
}

function releaseAfter(clock: Clock, ms: number) {
  const { promise, resolve } = Promise.withResolvers<"due">();
  return { due: promise, stop: clock.after(ms, () => resolve("due")) };
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
