import { bounds, Failure, finalTaskStates, shownState, type Task } from "#core/index.ts";
import { cancelAtUpstream } from "./cancel-upstream.ts";
import type { TaskHouse } from "./house.ts";
import { apply } from "./look.ts";
import { readLook, type Seen } from "./read-look.ts";
import { settle } from "./settle.ts";
import { TaskPass } from "./task-pass.ts";
import { ownSignal } from "./upstream-call.ts";
import { wait } from "./wait.ts";

/**
 * Cancels a task: at once when it was never sent, else as far as its vendor does. Throws conflict for one that has ended or
 * cannot be cancelled now, invalid_request when the vendor cannot or will not.
 */
export async function cancelTask(house: TaskHouse, task: Task, signal: AbortSignal): Promise<void> {
  const pass = await takeHold(house, task, signal);
  try {
    await cancelHeld(house, pass);
  } finally {
    if (!pass.over) await pass.leave({});
  }
}

async function cancelHeld(house: TaskHouse, pass: TaskPass): Promise<void> {
  const { state } = pass.task;
  if (state === "accepted") {
    await settle(house, pass, cancelled);
    return;
  }
  if (state === "submitting" || state === "unknown") {
    throw conflict("It is not known yet whether the upstream has the task; try again later.");
  }
  // Some vendors take a cancellation of what has ended as the wish to delete it: so it is looked at first.
  const before = await readLook(house, pass.task, ownSignal());
  if (before.kind === "state" && before.state.state !== null && finalTaskStates.has(before.state.state)) {
    await apply(house, pass, before, ownSignal());
    throw conflict(`The task has ended already: it is ${shownState(pass.task.state)}.`);
  }
  await noteRunning(house, pass, before);
  if (!(await cancelAtUpstream(house, pass.task, ownSignal()))) {
    throw new Failure("invalid_request", "The upstream of this task cannot cancel it.", { param: "task_id" });
  }
  const after = await readLook(house, pass.task, ownSignal());
  if (after.kind === "gone") await settle(house, pass, cancelled);
  else await apply(house, pass, after, ownSignal());
}

/** What ran is charged for, so that it did must be known before it is stopped. */
async function noteRunning({ clock }: TaskHouse, pass: TaskPass, seen: Seen): Promise<void> {
  if (seen.kind !== "state" || seen.state.state !== "running" || pass.task.startedAt !== null) return;
  await pass.step({ state: "running", startedAt: seen.state.startedAt ?? clock.now() });
}

const cancelled = {
  state: "cancelled",
  error: { code: "cancelled", message: "The task was cancelled by its caller." },
} as const;

/** The lease, as soon as whoever works on the task is done with it. */
async function takeHold(house: TaskHouse, task: Task, signal: AbortSignal): Promise<TaskPass> {
  const { store, clock } = house;
  const endMs = clock.monotonic() + bounds.taskCancelWaitMs;
  for (;;) {
    const leased = await store.leaseOne(task.id, clock.now(), bounds.taskLeaseMs);
    if (leased !== null) return new TaskPass(house, leased);
    const now = await store.findById(task.id);
    if (now === null || finalTaskStates.has(now.state)) {
      throw conflict(`The task has ended already: it is ${shownState(now?.state ?? "failed")}.`);
    }
    if (clock.monotonic() >= endMs) throw conflict("The task is being worked on; try again in a moment.");
    await wait(clock, pauseMs, signal);
  }
}

const pauseMs = 100;

function conflict(message: string): Failure {
  return new Failure("conflict", message, { param: "task_id" });
}
