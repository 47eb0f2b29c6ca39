import { Failure, type Task } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollClocks } from "../upstream-call.ts";
import { videoKindOf } from "../video-lane-match.ts";

/** Whether its vendor can be asked for that at all. */
export function canBeCancelled({ account }: Pick<Task, "account">): boolean {
  return account !== null && videoKindOf(account.kind)?.adapter.cancel !== undefined;
}

/**
 * Asks the upstream to stop. Resolves to false when this vendor cannot; throws invalid_request when it will not, and
 * another Failure when it could not be asked.
 */
export async function cancelAtUpstream(
  dependencies: TaskDependencies,
  task: Task,
  signal: AbortSignal,
): Promise<boolean> {
  const { account, upstreamId, upstreamModel } = task;
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || upstreamId === null || found === null) return false;
  const draft = found.adapter.cancel?.(dependencies.accounts.providerOf(account), upstreamModel, upstreamId) ?? null;
  if (draft === null) return false;
  const answer = await dependencies.providerClient.ask(found.kind, draft, pollClocks, signal);
  if (answer.good) return true;
  if (answer.status >= 400 && answer.status < 500 && ![401, 402, 403, 408, 429].includes(answer.status)) {
    throw new Failure("invalid_request", `The upstream does not cancel a task that is ${task.state}.`, {
      param: "task_id",
    });
  }
  throw found.kind.classify(answer);
}
