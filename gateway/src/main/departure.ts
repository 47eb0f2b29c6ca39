import { bounds, sleep } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Listeners } from "./listeners.ts";

export interface DepartureOptions {
  readonly listeners: Pick<Listeners, "leaveSockets" | "pending" | "connections">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** It is waited for so long, whatever goes on. */
  readonly timeoutMs: number;
  /** Aborted: nobody is waited for any more. */
  readonly signal: AbortSignal;
}

/**
 * A worker leaves whose place another has taken, so that no caller notices. New connections go to others already. On those that
 * it has every call is still answered, and the answer closes its connection; one on which nothing comes ends when it has been
 * silent for as long as any may be. Resolves when the last has gone.
 */
export async function depart({ listeners, clock, observer, timeoutMs, signal }: DepartureOptions): Promise<void> {
  observer.log("info", "Another worker has taken this one's place; its connections are waited for.");
  listeners.leaveSockets();
  const startMs = clock.monotonic();
  // Where connections cannot be counted those without a call are waited for as long as they may be silent.
  const silentMs = bounds.idleConnectionMs + bounds.workerSettleMs;
  for (;;) {
    const elapsedMs = clock.monotonic() - startMs;
    const open = listeners.connections();
    const gone = open === null ? listeners.pending() === 0 && elapsedMs >= silentMs : open === 0;
    if (signal.aborted || elapsedMs >= timeoutMs || (gone && elapsedMs >= bounds.workerSettleMs)) return;
    await sleep(clock, bounds.workerLookMs, signal);
  }
}
