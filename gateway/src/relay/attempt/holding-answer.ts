import { bounds, type CallerMemory, type MemoryOwner } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";

/**
 * A whole answer, held while it is read and used; what its caller has not read yet the connection holds. Throws upstream_error for one that
 * is too large, and what `hold` throws for one that has no room.
 */
export async function holdingAnswer<T>(
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
