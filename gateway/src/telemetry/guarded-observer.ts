import type { Observer } from "#ports/index.ts";

/**
 * An observer that never throws, whatever is wrong inside: whoever settles, answers or routes tells it in the middle of that, and
 * must not be kept from the rest. What was thrown is logged, if even that is possible.
 */
export function guardedObserver(observer: Observer): Observer {
  const guarded =
    <Told extends readonly unknown[]>(tell: (...told: Told) => void) =>
    (...told: Told): void => {
      try {
        tell(...told);
      } catch (error) {
        complain(observer, error);
      }
    };
  return {
    log: guarded((level, message, fields) => observer.log(level, message, fields)),
    // Told of every call: an array of what is told would be made for each.
    attemptEnd(entry, fault) {
      try {
        observer.attemptEnd(entry, fault);
      } catch (error) {
        complain(observer, error);
      }
    },
    attemptPending: guarded((entry) => observer.attemptPending?.(entry)),
    requestEnd(end) {
      try {
        observer.requestEnd(end);
      } catch (error) {
        complain(observer, error);
      }
    },
    breakerChange: guarded((deploymentId, state, reason) => observer.breakerChange(deploymentId, state, reason)),
    configReload: guarded((result, detail) => observer.configReload(result, detail)),
  };
}

function complain(observer: Observer, error: unknown): void {
  try {
    observer.log("error", "Something that was told of the gateway's work failed.", { error });
  } catch {
    // Then nobody can be told.
  }
}
