import type { Observer } from "#ports/index.ts";

/**
 * An observer that never throws, whatever is wrong inside: whoever settles, answers or routes tells it in the middle of that, and
 * must not be kept from the rest. What was thrown is logged, if even that is possible.
 */
export function guardedObserver(observer: Observer): Observer {
  const guard = (tell: () => void): void => {
    try {
      tell();
    } catch (error) {
      complain(observer, error);
    }
  };
  return {
    log: (level, message, fields) => guard(() => observer.log(level, message, fields)),
    attemptEnd: (entry) => guard(() => observer.attemptEnd(entry)),
    requestEnd: (end) => guard(() => observer.requestEnd(end)),
    breakerChange: (deploymentId, state, reason) => guard(() => observer.breakerChange(deploymentId, state, reason)),
    configReload: (result, detail) => guard(() => observer.configReload(result, detail)),
  };
}

function complain(observer: Observer, error: unknown): void {
  try {
    observer.log("error", "Something that was told of the gateway's work failed.", { error });
  } catch {
    // Then nobody can be told.
  }
}
