import { asFailure, bounds, Failure, finalTaskStates, shownState, sleep, type Task, throwIfGone } from "#core/index.ts";
import { letGo } from "../deliver/result-copies.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { canBeCancelled, cancelAtUpstream, readPoll, removeAtUpstream, type Seen } from "../poll/ask-vendor.ts";
import { apply } from "../poll/poll.ts";
import { TaskPass } from "../task-pass.ts";
import { ownSignal } from "../upstream-call.ts";
import { settle } from "./settle.ts";

/** How long a cancellation waits for the pass that is at work. */
const taskCancelWaitMs = 5_000;

/**
 * Cancels a task: at once when it was never sent, else as far as its vendor does. Throws conflict for one that has ended or
 * cannot be cancelled now, invalid_request when the vendor cannot or will not.
 */
export async function cancelTask(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<void> {
  const pass = await takeHold(dependencies, task, signal);
  try {
    await cancelHeld(dependencies, pass);
  } finally {
    if (!pass.over) await pass.leave({});
  }
}

async function cancelHeld(dependencies: TaskDependencies, pass: TaskPass): Promise<void> {
  const { state } = pass.task;
  if (state === "accepted") {
    await settle(dependencies, pass, cancelled);
    return;
  }
  if (state === "submitting" || state === "unknown") {
    throw conflict("It is not known yet whether the upstream has the task; try again later.");
  }
  // Some vendors take a cancellation of what has ended as the wish to delete it: so it is looked at first.
  const before = await readPoll(dependencies, pass.task, ownSignal());
  if (before.kind === "state" && before.state.state !== null && finalTaskStates.has(before.state.state)) {
    await apply(dependencies, pass, before, ownSignal());
    throw conflict(`The task has ended already: it is ${shownState(pass.task.state)}.`);
  }
  // Nobody knows whether it has ended: a cancellation might throw away what was made, and is paid for.
  if (before.kind === "failed" && canBeCancelled(pass.task)) throw before.failure;
  await noteRunning(dependencies, pass, before);
  if (!(await cancelAtUpstream(dependencies, pass.task, ownSignal()))) {
    throw new Failure("invalid_request", "The upstream of this task cannot cancel it.", { param: "task_id" });
  }
  const after = await readPoll(dependencies, pass.task, ownSignal());
  if (after.kind === "gone") await settle(dependencies, pass, cancelled);
  else await apply(dependencies, pass, after, ownSignal());
}

/** What ran is charged for, so that it did must be known before it is stopped. */
async function noteRunning({ clock }: TaskDependencies, pass: TaskPass, seen: Seen): Promise<void> {
  if (seen.kind !== "state" || seen.state.state !== "running" || pass.task.startedAt !== null) return;
  await pass.step({ state: "running", startedAt: seen.state.startedAt ?? clock.now() });
}

const cancelled = {
  state: "cancelled",
  error: { code: "cancelled", message: "The task was cancelled by its caller." },
} as const;

/** The lease, as soon as whoever works on the task is done with it. */
async function takeHold(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<TaskPass> {
  const { store, clock } = dependencies;
  const endMs = clock.monotonic() + taskCancelWaitMs;
  for (;;) {
    const leased = await store.leaseOne(task.id, clock.now(), bounds.taskLeaseMs);
    if (leased !== null) return new TaskPass(dependencies, leased);
    const now = await store.findById(task.id);
    if (now === null || finalTaskStates.has(now.state)) {
      throw conflict(`The task has ended already: it is ${shownState(now?.state ?? "failed")}.`);
    }
    if (clock.monotonic() >= endMs) throw conflict("The task is being worked on; try again in a moment.");
    await sleep(clock, pauseMs, signal);
    throwIfGone(signal);
  }
}

const pauseMs = 100;

function conflict(message: string): Failure {
  return new Failure("conflict", message, { param: "task_id" });
}

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
    if (!finalTaskStates.has(task.state)) throw thrown ?? conflict(notCancelledYet);
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

const notCancelledYet = "The upstream has not carried out the cancellation yet; delete the video again later.";
