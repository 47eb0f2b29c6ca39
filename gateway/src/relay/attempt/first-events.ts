import { bounds } from "#core/index.ts";
import type { Clock, OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import type { HeldEvents } from "./event-memory.ts";

/** What a stream gave until its first whole event. `cut`: there was none, because it ended, or because it sent too much else. */
export interface FirstEvents {
  readonly bytes: Uint8Array;
  readonly cut: "ended" | "too long" | null;
}

export interface FirstEventsOptions {
  readonly clock: Clock;
  readonly answer: OutboundAnswer;
  readonly tap: StreamTap;
  readonly limitMs: number;
  /** Of its stream, which lets go of it. */
  readonly place: HeldEvents;
}

/** Reads a stream until its first event is whole, so that a failure before it can still be told, or tried elsewhere. */
export async function readFirstEvents(options: FirstEventsOptions): Promise<FirstEvents> {
  const { clock, tap, limitMs, place } = options;
  const { body } = options.answer;
  const deadlineMs = clock.monotonic() + limitMs;
  const pieces: Uint8Array[] = [];
  let size = 0;
  let cut: FirstEvents["cut"] = null;
  while (tap.events === 0 && cut === null) {
    const chunk = await body.read("first_event", Math.max(1, deadlineMs - clock.monotonic()));
    if (chunk === null) {
      cut = "ended";
      break;
    }
    const whole = tap.push(chunk);
    if (whole.length > 0) pieces.push(whole);
    size += whole.length;
    place.hold(size + (tap.held ?? 0));
    if (tap.events === 0 && size > bounds.eventBytesMax) cut = "too long";
  }
  const [only] = pieces;
  return { bytes: pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces), cut };
}
