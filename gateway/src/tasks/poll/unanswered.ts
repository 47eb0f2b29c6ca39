import type { TaskDependencies } from "../dependencies.ts";
import type { TaskPass } from "../task-pass.ts";

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
