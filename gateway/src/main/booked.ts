import type { Admission } from "#limits/index.ts";
import type { Observer } from "#ports/index.ts";

/** An observer that tells the budgets what each settled entry cost, before anybody else hears of it. */
export function entriesToldTo(admission: Pick<Admission, "settled">, observer: Observer): Observer {
  return {
    log: (level, message, fields) => observer.log(level, message, fields),
    attemptEnd: (entry) => {
      admission.settled(entry);
      observer.attemptEnd(entry);
    },
    requestEnd: (end) => observer.requestEnd(end),
    breakerChange: (deploymentId, state, reason) => observer.breakerChange(deploymentId, state, reason),
    configReload: (result, detail) => observer.configReload(result, detail),
  };
}
