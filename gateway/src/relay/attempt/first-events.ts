import { bounds } from "#core/index.ts";
import type { Clock, OutboundAnswer } from "#ports/index.ts";
import type { StreamTap } from "#protocols/index.ts";

/** What a stream gave until its first whole event. `cut`: there was none, because it ended, or because it sent too much else. */
export interface FirstEvents {
  readonly bytes: Uint8Array;
  readonly cut: "ended" | "too long" | null;
}

/** Reads a stream until its first event is whole, so that a failure before it can still be told, or tried elsewhere. */
export async function readFirstEvents(
  clock: Clock,
  { body }: OutboundAnswer,
  tap: StreamTap,
  limitMs: number,
): Promise<FirstEvents> {
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
    if (tap.events === 0 && size > bounds.eventBytesMax) cut = "too long";
  }
  const [only] = pieces;
  return { bytes: pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces), cut };
}
