import { bounds } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { TaskPass } from "../task-pass.ts";

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
  const wasAway = now - (task.dueAt ?? now) >= bounds.taskUnansweredMs;
  const since = wasAway ? now : (task.unansweredSince ?? now);
  const endsAt = since + bounds.taskUnansweredMs;
  if (now >= endsAt) return false;
  const delayMs = Math.max(bounds.taskUnansweredPollMs * (0.85 + 0.3 * chance.unit()), retryAfterMs);
  await pass.leave({
    dueAt: Math.min(Math.round(now + delayMs), endsAt),
    polls: task.polls + 1,
    unansweredSince: since,
  });
  return true;
}
