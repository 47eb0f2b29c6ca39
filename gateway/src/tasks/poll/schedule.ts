import { bounds } from "#core/index.ts";
import type { TaskStep } from "../store/task-rows.ts";
import type { TaskPass } from "../task-pass.ts";
import { pollDelayMs } from "./pace.ts";

/** Releases the task until its next poll, at the deadline at the latest. `retryAfterMs` is the vendor's Retry-After. */
export async function scheduleNextPoll(
  pass: TaskPass,
  step: TaskStep = {},
  { retryAfterMs = 0, withinMs = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const { task } = pass;
  const { clock, chance } = pass.dependencies;
  const now = clock.now();
  const waitMs = Math.max(pollDelayMs(task, now, chance.unit()), Math.min(retryAfterMs, bounds.taskGoneMs));
  await pass.release({
    dueAt: Math.min(now + Math.min(withinMs, waitMs), task.deadlineAt),
    polls: task.polls + 1,
    ...step,
  });
}

/** How long and how often a task past its deadline is polled if the vendor does not answer. */
const taskUnansweredMs = 600_000;
const taskUnansweredPollMs = 30_000;

/**
 * Polls a task past its deadline again if the vendor did not answer, for ten minutes from the first such failure. The time
 * starts again after the gateway was down, when the first requests often fail.
 */
export async function retryAfterDeadline(pass: TaskPass, retryAfterMs = 0): Promise<boolean> {
  const { task } = pass;
  const { clock, chance } = pass.dependencies;
  const now = clock.now();
  const wasAway = now - (task.dueAt ?? now) >= taskUnansweredMs;
  const since = wasAway ? now : (task.unansweredSince ?? now);
  const endsAt = since + taskUnansweredMs;
  if (now >= endsAt) return false;
  const delayMs = Math.max(taskUnansweredPollMs * (0.85 + 0.3 * chance.unit()), retryAfterMs);
  await pass.release({
    dueAt: Math.min(Math.round(now + delayMs), endsAt),
    polls: task.polls + 1,
    unansweredSince: since,
  });
  return true;
}
