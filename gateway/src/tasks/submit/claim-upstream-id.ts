import type { TaskStore } from "#ports/index.ts";
import type { TaskPass } from "../task-pass.ts";

/**
 * Two tasks that ask for the same are told apart by nothing but who has which id at the upstream. So the id is written
 * first, under the lease, and then it is asked whether another task has it too: whoever sees another lets go of it, so
 * that one of them keeps it at most. False: it is not this task's, or the lease was lost.
 */
export async function claimUpstreamId(store: TaskStore, pass: TaskPass, upstreamId: string): Promise<boolean> {
  if (!(await pass.step({ upstreamId }))) return false;
  const owners = await store.withUpstreamIds([upstreamId]);
  const { id, account } = pass.task;
  if (!owners.some(({ taskId, providerId }) => taskId !== id && providerId === account?.providerId)) return true;
  await pass.step({ upstreamId: null });
  return false;
}
