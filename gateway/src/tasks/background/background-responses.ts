import { bounds, type NanoUsd, type Principal, responseTaskId, throwIfGone, within } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { TaskPass } from "../task-pass.ts";
import { ownSignal } from "../upstream-call.ts";
import { pollResponse, prepareResponse } from "./advance-response.ts";

/** Sets the money of a background response aside, before its task is stored. Never rejects: it is charged in any case. */
export async function holdForResponse(
  { admission, holds, observer }: TaskDependencies,
  principal: Principal,
  attemptId: string,
  nanoUsd: NanoUsd,
): Promise<void> {
  const id = responseTaskId(attemptId);
  try {
    holds.keep(id, await admission.hold(principal, nanoUsd, true, id));
  } catch (error) {
    observer.log("warn", "The money of a background response could not be set aside.", { task: id, error });
  }
}

/**
 * Polls a response before it is cancelled or deleted, which may be the last time that its upstream says what it used. Never rejects:
 * where nothing can be learned, the task is charged as an estimate.
 */
export async function refreshResponse(
  dependencies: TaskDependencies,
  workspaceId: string,
  upstreamId: string,
): Promise<void> {
  const { clock, store, observer, journal } = dependencies;
  const over = new AbortController();
  const refreshing = (async (): Promise<void> => {
    // The task of a call that has just been answered comes out of the journal.
    await within(
      clock,
      bounds.taskRefreshMs,
      journal.drained(over.signal),
      () => throwIfGone(over.signal),
      over.signal,
    );
    for (const { taskId } of await store.withUpstreamIds([upstreamId])) {
      const leased = await store.leaseOne(taskId, clock.now(), bounds.taskLeaseMs);
      if (leased === null) continue;
      const pass = new TaskPass(dependencies, leased);
      if (leased.task.kind !== "response" || leased.task.workspaceId !== workspaceId) await pass.leave({});
      else if (await prepareResponse(dependencies, pass))
        await pollResponse(dependencies, pass, ownSignal(), bounds.taskTickMs);
    }
  })().catch((error: unknown) => {
    observer.log("warn", "A background response could not be polled before it was ended.", { upstreamId, error });
  });
  await within(clock, bounds.taskPollTotalMs, refreshing, () => undefined);
  over.abort();
}
