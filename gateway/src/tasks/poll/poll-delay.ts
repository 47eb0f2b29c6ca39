import type { Task } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { TaskPass } from "../task-pass.ts";

/**
 * How long until the next poll of a task, by how long the upstream has had it: 3 seconds at first, a tenth of its age later,
 * 30 seconds at most; slower again for what takes hours. A clip takes about 100 seconds, so most need about a dozen polls.
 * `unit` spreads polls that were begun together.
 */
export function pollDelayMs(task: Task, now: number, unit: number): number {
  return Math.round(steadyDelayMs(task, now) * (0.85 + 0.3 * unit));
}

/** The same without the spread: what a state may be old before it is stale, and what callers are told. */
export function steadyDelayMs(task: Task, now: number): number {
  const ageMs = Math.max(0, now - (task.submittedAt ?? task.createdAt));
  const slow = slowSteps.find(([fromMs]) => ageMs >= fromMs)?.[1];
  if (slow !== undefined) return slow;
  const delayMs = Math.min(30_000, Math.max(3_000, ageMs / 10));
  return task.state === "unknown" || isPatient(task) ? Math.max(15_000, 2 * delayMs) : delayMs;
}

const slowSteps: readonly (readonly [fromMs: number, delayMs: number])[] = [
  [12 * 3_600_000, 300_000],
  [2 * 3_600_000, 120_000],
  [30 * 60_000, 60_000],
];

/** Ark's cheap tier works when nobody else wants to, over hours. A long body is not searched for the word each time. */
function isPatient(task: Task): boolean {
  return task.request.length <= 65_536 && /"service_tier"\s*:\s*"flex"/.test(task.request);
}

/** How long, and how often, a silent vendor is asked about a task past its deadline. */
const taskUnansweredMs = 600_000;
const taskUnansweredPollMs = 30_000;

/**
 * After a task's deadline its vendor did not answer: is it asked again? A look that failed says nothing of the task, and the
 * first one after hours away is often made on a machine that has much to do, so it is asked for ten minutes more. They count
 * from the first such look, and anew when nobody has looked for so long.
 */
export async function askAgain(
  { clock, chance }: TaskDependencies,
  pass: TaskPass,
  retryAfterMs = 0,
): Promise<boolean> {
  const { task } = pass;
  const now = clock.now();
  const wasAway = now - (task.dueAt ?? now) >= taskUnansweredMs;
  const since = wasAway ? now : (task.unansweredSince ?? now);
  const endsAt = since + taskUnansweredMs;
  if (now >= endsAt) return false;
  const delayMs = Math.max(taskUnansweredPollMs * (0.85 + 0.3 * chance.unit()), retryAfterMs);
  await pass.leave({
    dueAt: Math.min(Math.round(now + delayMs), endsAt),
    polls: task.polls + 1,
    unansweredSince: since,
  });
  return true;
}
