import { remarkSentence } from "@sluice/contract/words";
import { bounds, sleep } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollDelayMs } from "../poll/poll-delay.ts";
import type { TaskPass } from "../task-pass.ts";
import { claimUpstreamId } from "./claim-upstream-id.ts";

/**
 * Notes what the upstream calls the task: the one thing that nobody else knows. A lease that was lost meanwhile is asked for
 * again, and a store that fails is tried again, for a while; after that only the vendor's list can find the task.
 */
export async function keepAccepted(dependencies: TaskDependencies, pass: TaskPass, upstreamId: string): Promise<void> {
  const { clock, chance, observer } = dependencies;
  let reason: unknown = null;
  let late = false;
  for (let tries = 0; tries < triesMax; tries++) {
    try {
      // A task that was taken for lost may have been found in the list meanwhile, as another one that asks for the same.
      if (late && !(await claimUpstreamId(dependencies.store, pass, upstreamId))) return;
      const dueAt = clock.now() + pollDelayMs({ ...pass.task, state: "queued" }, clock.now(), chance.unit());
      if (await pass.leave({ state: "queued", upstreamId, dueAt, detail: accepted })) return;
      const standing = await pass.insist();
      if (standing === "settled") break;
      late = true;
      if (standing === "again") continue;
    } catch (thrown) {
      reason = thrown;
    }
    await sleep(clock, pauseMs, null);
  }
  if (pass.task.upstreamId === upstreamId) return;
  observer.log("error", "An upstream accepted a video task, and that could not be noted.", {
    task: pass.task.id,
    provider: pass.task.account?.providerId,
    upstreamId,
    error: reason,
  });
}

const pauseMs = 500;
const triesMax = Math.ceil((2 * bounds.taskLeaseMs) / pauseMs);

const accepted = remarkSentence("taskEvent", { code: "accepted", params: {} });
