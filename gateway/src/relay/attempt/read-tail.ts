import type { OutboundAnswer } from "#ports/index.ts";

const tailMs = 1_000;

/** Awaits the rest of a finished answer for a moment, so that its connection can be used again. */
export async function readTail(answer: OutboundAnswer): Promise<void> {
  try {
    for (let reads = 0; reads < 4; reads++) if ((await answer.body.read("idle", tailMs)) === null) return;
  } catch {
    // The answer is already settled and delivered; only the connection is lost.
  }
  answer.body.cancel();
}
