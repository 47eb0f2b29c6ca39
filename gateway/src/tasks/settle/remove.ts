import { asFailure, Failure, finalTaskStates, type Task } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollClocks } from "../upstream-call.ts";
import { videoKindOf } from "../video-lane-match.ts";
import { cancelTask } from "./cancel.ts";
import { letGo } from "./let-go.ts";

/**
 * Deletes a video for good: at its vendor where that can be asked for, its copy here, and what was asked for. One that is still
 * being made is cancelled first. Its ledger entry stays. Throws task_not_found; invalid_request where the vendor cannot cancel;
 * conflict while it is not known how it ends; and what stands in the vendor's way, so that it is asked again.
 */
export async function removeTask(
  dependencies: TaskDependencies,
  find: () => Promise<Task>,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> {
  let task = await find();
  if (!finalTaskStates.has(task.state)) {
    const thrown = await cancelTask(dependencies, task, signal).then(() => null, asFailure);
    task = await find();
    // It may have ended by itself meanwhile.
    if (!finalTaskStates.has(task.state)) throw thrown ?? notYet();
  }
  await removeAtUpstream(dependencies, task, signal);
  // Before the task goes: nobody would ask again for a copy that could not be removed behind it.
  const hash = task.output?.blobHash ?? null;
  if (hash !== null) await dependencies.unusedBlobs?.drop(hash, { id: task.id });
  const removed = await dependencies.store.remove(workspaceId, task.id, dependencies.clock.now());
  // It was copied in the meantime.
  if (removed !== null && removed.blobHash !== null && removed.blobHash !== hash) {
    await letGo(dependencies, task.id, removed.blobHash);
  }
}

/** A vendor that refuses has nothing to delete, or lets nobody: neither is a reason to keep the video here. */
async function removeAtUpstream(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<void> {
  const { account, upstreamId, upstreamModel } = task;
  // Of what was taken back nothing was made, and there are vendors who count a second call as a refusal.
  if (task.state === "cancelled") return;
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || upstreamId === null || found?.adapter.remove === undefined) return;
  const draft = found.adapter.remove(dependencies.accounts.providerOf(account), upstreamModel, upstreamId);
  const answer = await dependencies.providerClient.ask(found.kind, draft, pollClocks, signal);
  if (answer.good || answer.status === 404 || answer.status === 410) return;
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408) throw found.kind.classify(answer);
  dependencies.observer.log("warn", "A vendor did not delete a video that was deleted here.", {
    task: task.id,
    provider: account.providerId,
    status: answer.status,
  });
}

function notYet(): Failure {
  return new Failure(
    "conflict",
    "The upstream has not carried out the cancellation yet; delete the video again later.",
    {
      param: "task_id",
    },
  );
}
