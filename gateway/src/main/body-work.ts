import { availableParallelism } from "node:os";
import { BodyWork } from "#bodies/index.ts";
import { bounds } from "#core/index.ts";
import type { Clock, Ids, Observer, Offload } from "#ports/index.ts";
import { WorkerPool } from "#system/index.ts";

/** Work on bodies with threads of its own, and how to end them. */
export function openBodyWork(parts: { readonly clock: Clock; readonly ids: Ids; readonly observer: Observer }): {
  readonly bodies: BodyWork;
  readonly offload: Offload;
} {
  const { clock, ids, observer } = parts;
  const offload = new WorkerPool({
    entry: new URL("./body-worker.ts", import.meta.url),
    name: "bodies",
    threads: Math.min(bounds.bodyWorkThreadsMax, Math.max(2, availableParallelism() - 1)),
    waitingMax: bounds.bodyWorkWaitingMax,
    jobMs: bounds.bodyWorkMs,
    idleMs: bounds.bodyWorkIdleMs,
    longBytes: bounds.bodyWorkLongBytes,
    patienceMs: bounds.bodyWorkPatienceMs,
    clock,
    observer,
  });
  return { bodies: new BodyWork({ offload, newId: (prefix) => ids.next(prefix) }), offload };
}
