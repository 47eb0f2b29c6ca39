import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** What asked the gateway to end. */
type StopReason = "SIGTERM" | "SIGINT" | "launcher gone";

export interface StopSignals {
  /** Resolves at the first request to end. */
  readonly stopped: Promise<StopReason>;
  /** Aborted by a later, deliberate one: whoever waits is tired of it. */
  readonly hurried: AbortSignal;
  /** From now on SIGHUP calls `act`; one that came earlier does so at once. */
  onReload(act: () => void): void;
  /** SIGUSR2, which replaces workers, calls `act`; before that it is passed over. */
  onReplace(act: () => void): void;
}

/**
 * Listens from the very beginning to the end of the process, so that no signal ends one that is half built, or half gone, and
 * leaves something behind.
 *
 * One request to end often comes several times: a terminal and a supervisor signal the whole process group, and npm and our
 * launcher each pass on what they got. What comes within bounds.sameSignalMs of the first is that first one again.
 *
 * The launcher (scripts/start.mjs) holds a channel to this process. When it closes the launcher was killed, and nobody could
 * stop this process by the name it was started by any more; so that too is a request to end.
 */
export function listenForSignals(clock: Clock): StopSignals {
  const stopped = Promise.withResolvers<StopReason>();
  const hurried = new AbortController();
  let firstMs: number | null = null;
  let reload: (() => void) | null = null;
  let missedReload = false;
  let replace = (): void => {};

  const stop = (reason: StopReason): void => {
    const nowMs = clock.monotonic();
    firstMs ??= nowMs;
    stopped.resolve(reason);
    if (reason !== "launcher gone" && nowMs - firstMs > bounds.sameSignalMs) hurried.abort();
  };
  const onTerminate = (): void => stop("SIGTERM");
  const onInterrupt = (): void => stop("SIGINT");
  const onDisconnect = (): void => stop("launcher gone");
  const onHangUp = (): void => {
    if (reload === null) missedReload = true;
    else reload();
  };
  process.on("SIGTERM", onTerminate);
  process.on("SIGINT", onInterrupt);
  process.on("SIGHUP", onHangUp);
  // It would end the process if nobody listened.
  process.on("SIGUSR2", () => replace());
  process.on("disconnect", onDisconnect);
  return {
    stopped: stopped.promise,
    hurried: hurried.signal,
    onReload: (act) => {
      reload = act;
      if (missedReload) act();
    },
    onReplace: (act) => {
      replace = act;
    },
  };
}
