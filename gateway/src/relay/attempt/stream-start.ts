import { bounds, type HeldMemory, type Redactor } from "#core/index.ts";
import type { Clock, OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import { PieceQueue } from "./piece-queue.ts";

/**
 * How long a stream with events and no content yet is held back. An overloaded upstream says so within seconds; a model that thinks
 * for minutes may send nothing else meanwhile, and its caller must see that the answer has begun.
 */
const preambleMs = 10_000;
/** The same without any event: below the minute after which proxies give up a silent connection. */
const silenceMs = 45_000;

/** What came until the stream had begun, failed or ended. */
export interface StreamStart {
  readonly waiting: PieceQueue;
  /** "ended": its bytes are over. "too long": it sent only comments. */
  readonly cut: "ended" | "too long" | null;
  /** The read that was under way when the preamble was released. */
  readonly pending: Promise<Uint8Array | null> | null;
}

export interface StreamStartOptions {
  readonly clock: Clock;
  readonly answer: OutboundAnswer;
  readonly tap: StreamTap;
  /** From now on. */
  readonly firstEventMs: number;
  readonly idleMs: number;
  /** The stream releases it. */
  readonly place: HeldMemory;
  /** Asked once there is an event. */
  readonly begun: (tap: StreamTap) => boolean;
  readonly redactor: () => Redactor;
}

/**
 * Reads a stream until it has begun, so that a failure before that has a status, or is tried elsewhere. A stream that is released
 * in silence (no event, and a read that is `pending`) has not answered yet.
 */
export async function readStreamStart(options: StreamStartOptions): Promise<StreamStart> {
  const { clock, tap, place, firstEventMs, idleMs } = options;
  const { body } = options.answer;
  const firstEventBy = clock.monotonic() + firstEventMs;
  const waiting = new PieceQueue(options.redactor);
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
      if (tap.failure !== null || tap.ended || isFull || options.begun(tap)) return start(null);
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
