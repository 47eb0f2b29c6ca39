import { asFailure, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import type { RelayHouse } from "./house.ts";
import type { KeptCall } from "./kept-call.ts";
import type { LiveStream } from "./live-streams.ts";

export interface PassOnParts {
  readonly house: RelayHouse;
  readonly call: KeptCall;
  readonly answer: OutboundAnswer;
  readonly tap: StreamTap;
  readonly idleMs: number;
  /** Called once, whatever the end. */
  readonly end: (tap: StreamTap) => void;
}

/** A kept stream on its way to whoever asked to see it; it costs nothing itself, so only its end is told. */
export function passOn({ house, call, answer, tap, idleMs, end }: PassOnParts): ReadableStream<Uint8Array> {
  let over = false;
  let out: ReadableStreamDefaultController<Uint8Array> | null = null;
  const live: LiveStream = { abort: (failure) => finish(failure) };
  house.live.add(live);

  function finish(failure: Failure | null): void {
    if (over) return;
    over = true;
    house.live.remove(live);
    if (failure !== null) {
      answer.body.cancel();
      const text = call.speech.dialect.renderStreamError(failure, call.requestId);
      out?.enqueue(new TextEncoder().encode(text));
    }
    end(tap);
    out?.close();
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        out = controller;
        try {
          for (;;) {
            const chunk = await answer.body.read("idle", idleMs);
            if (over) return;
            if (chunk === null) {
              const cut = new Failure("upstream_truncated", "The upstream's stream ended before it was complete.");
              return finish(tap.complete() || tap.failure !== null ? null : cut);
            }
            const whole = tap.push(chunk);
            if (whole.length > 0) return controller.enqueue(whole);
          }
        } catch (thrown) {
          finish(asFailure(thrown));
        }
      },
      cancel() {
        out = null;
        if (over) return;
        answer.body.cancel();
        finish(null);
      },
    },
    { highWaterMark: 0 },
  );
}
