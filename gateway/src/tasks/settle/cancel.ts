import { asFailure, bounds, Failure, finalTaskStates, shownState, sleep, type Task, throwIfGone } from "#core/index.ts";
import { removeCopy } from "../deliver/result-copies.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { canCancel, cancelAtUpstream, type PollResult, pollVendor, removeAtUpstream } from "../poll/ask-vendor.ts";
import { applyPollResult } from "../poll/poll.ts";
import { TaskPass } from "../task-pass.ts";
import { settle } from "./settle.ts";

/** How long a cancellation waits for another pass. */
const taskCancelWaitMs = 5_000;

/**
 * Cancels a task: at once if it was not sent, otherwise at its vendor. Throws conflict if it has ended or its state is
 * unknown, invalid_request if the vendor cannot or will not.
 */
export async function cancelTask(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<void> {
  const pass = await leaseForCancel(dependencies, task, signal);
  try {
    await cancelLeased(pass);
  } finally {
    if (!pass.isOver) await pass.release({});
  }
}

async function cancelLeased(pass: TaskPass): Promise<void> {
  const { state } = pass.task;
  if (state === "accepted") {
    await settle(pass, cancelled);
    return;
  }
  if (state === "submitting" || state === "unknown") {
    throw conflict("It is still unknown whether the upstream has the task; try again later.");
  }
  // Poll first: some vendors delete an ended task when asked to cancel it.
  const before = await pollVendor(pass.dependencies, pass.task, pass.signal);
  if (before.kind === "state" && before.state.state !== null && finalTaskStates.has(before.state.state)) {
    await applyPollResult(pass, before);
    throw conflict(`The task has already ended: it is ${shownState(pass.task.state)}.`);
  }
  // The task may have ended, and a cancellation might then delete a paid result.
  if (before.kind === "failed" && canCancel(pass.task)) throw before.failure;
  await recordRunning(pass, before);
  if (!(await cancelAtUpstream(pass.dependencies, pass.task, pass.signal))) {
    throw new Failure("invalid_request", "The upstream of this task cannot cancel it.", { param: "task_id" });
  }
  const after = await pollVendor(pass.dependencies, pass.task, pass.signal);
  if (after.kind === "gone") await settle(pass, cancelled);
  else await applyPollResult(pass, after);
}

/** A task that ran is charged, so record that it ran before it is canceled. */
async function recordRunning(pass: TaskPass, seen: PollResult): Promise<void> {
  if (seen.kind !== "state" || seen.state.state !== "running" || pass.task.startedAt !== null) return;
  await pass.step({ state: "running", startedAt: seen.state.startedAt ?? pass.dependencies.clock.now() });
}

const cancelled = {
  state: "cancelled",
  error: { code: "cancelled", message: "The caller canceled the task." },
} as const;

async function leaseForCancel(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<TaskPass> {
  const { store, clock } = dependencies;
  const endMs = clock.monotonic() + taskCancelWaitMs;
  for (;;) {
    const leased = await store.leaseOne(task.id, clock.now(), bounds.taskLeaseMs);
    if (leased !== null) return new TaskPass(dependencies, leased);
    const now = await store.findById(task.id);
    if (now === null || finalTaskStates.has(now.state)) {
      throw conflict(`The task has already ended: it is ${shownState(now?.state ?? "failed")}.`);
    }
    if (clock.monotonic() >= endMs) throw conflict("The task is being processed; try again in a moment.");
    await sleep(clock, pauseMs, signal);
    throwIfGone(signal);
  }
}

const pauseMs = 100;

function conflict(message: string): Failure {
  return new Failure("conflict", message, { param: "task_id" });
}

/**
 * Deletes a video: at its vendor, its copy here, and its request. A task in progress is canceled first. The ledger entry
 * stays. Throws task_not_found; invalid_request if the vendor cannot cancel; conflict while the cancellation is pending; or
 * the vendor's failure.
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
    // It may have ended in the meantime.
    if (!finalTaskStates.has(task.state)) throw thrown ?? conflict(cancellationPending);
  }
  await removeAtUpstream(dependencies, task, signal);
  // Do this before the row is deleted, so that the caller can retry if it fails.
  const hash = task.output?.blobHash ?? null;
  if (hash !== null) await dependencies.unusedBlobs?.drop(hash, { id: task.id });
  const removed = await dependencies.store.remove(workspaceId, task.id, dependencies.clock.now());
  // The result was copied in the meantime.
  if (removed !== null && removed.blobHash !== null && removed.blobHash !== hash) {
    await removeCopy(dependencies, task.id, removed.blobHash);
  }
}

const cancellationPending = "The cancellation is still pending at the upstream; delete the video again later.";
