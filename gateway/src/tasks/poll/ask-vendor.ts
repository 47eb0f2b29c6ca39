import { asFailure, Failure, type Task } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { noVideoAdapter, pollClocks } from "../upstream-call.ts";
import { type VideoAdapter, videoKindOf } from "../video-lanes.ts";

export type VideoState = ReturnType<VideoAdapter["readState"]>;

/** The result of a poll. `gone`: the vendor has no such task. */
export type PollResult =
  | { readonly kind: "state"; readonly state: VideoState }
  | { readonly kind: "gone" | "failed"; readonly failure: Failure };

/** Polls the account that has the task and redacts its secrets. Never throws. */
export async function pollVendor(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<PollResult> {
  const result = await ask(dependencies, task, signal);
  if (task.account === null) return result;
  const redactor = accountRedactor(dependencies.accounts.providerOf(task.account));
  if (result.kind !== "state") return { ...result, failure: redactor.failure(result.failure) };
  const { error } = result.state;
  if (error === null) return result;
  const redacted = { code: redactor.text(error.code), message: redactor.text(error.message) };
  return { kind: "state", state: { ...result.state, error: redacted } };
}

async function ask(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<PollResult> {
  const upstream = upstreamOf(dependencies, task);
  if (upstream === null) return { kind: "failed", failure: noVideoAdapter(task.account?.kind ?? "") };
  const { kind, adapter, provider, upstreamId } = upstream;
  const { providerClient } = dependencies;
  try {
    const draft = adapter.poll(provider, task.upstreamModel, upstreamId);
    const answer = await providerClient.ask(kind, draft, pollClocks, signal);
    const gone = adapter.reportsGone?.(answer) === true;
    if (!answer.good) return { kind: gone ? "gone" : "failed", failure: kind.classify(answer) };
    if (gone) {
      return {
        kind: "gone",
        failure: new Failure("upstream_error", "The upstream has no such task.", { retry: "same" }),
      };
    }
    const state = adapter.readState(answer, provider);
    if (state.next === null || adapter.readNext === undefined) return { kind: "state", state };
    // Some vendors return the file's URL from a second endpoint; at most one more request.
    const next = await providerClient.ask(kind, state.next, pollClocks, signal);
    const shown = next.good ? adapter.readNext(next, state) : (adapter.readNextRefusal?.(next, state) ?? null);
    return shown === null ? { kind: "failed", failure: kind.classify(next) } : { kind: "state", state: shown };
  } catch (thrown) {
    return { kind: "failed", failure: asFailure(thrown) };
  }
}

export function canCancel({ account }: Pick<Task, "account">): boolean {
  return account !== null && videoKindOf(account.kind)?.adapter.cancel !== undefined;
}

/**
 * Cancels at the upstream. Resolves to false if the vendor has no cancellation. Throws invalid_request if the vendor
 * refuses, another Failure if the request fails.
 */
export async function cancelAtUpstream(
  dependencies: TaskDependencies,
  task: Task,
  signal: AbortSignal,
): Promise<boolean> {
  const upstream = upstreamOf(dependencies, task);
  const draft = upstream?.adapter.cancel?.(upstream.provider, task.upstreamModel, upstream.upstreamId) ?? null;
  if (upstream === null || draft === null) return false;
  const { kind } = upstream;
  const answer = await dependencies.providerClient.ask(kind, draft, pollClocks, signal);
  if (answer.good) return true;
  if (answer.status >= 400 && answer.status < 500 && ![401, 402, 403, 408, 429].includes(answer.status)) {
    throw new Failure("invalid_request", `The upstream does not cancel a task that is ${task.state}.`, {
      param: "task_id",
    });
  }
  throw kind.classify(answer);
}

/** Deletes the video at its vendor. A vendor's refusal does not stop the deletion here. */
export async function removeAtUpstream(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<void> {
  // A canceled task has no result, and some vendors refuse a second call.
  if (task.state === "cancelled") return;
  const upstream = upstreamOf(dependencies, task);
  const draft = upstream?.adapter.remove?.(upstream.provider, task.upstreamModel, upstream.upstreamId) ?? null;
  if (upstream === null || draft === null) return;
  const { kind, provider } = upstream;
  const answer = await dependencies.providerClient.ask(kind, draft, pollClocks, signal);
  if (answer.good || answer.status === 404 || answer.status === 410) return;
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408) throw kind.classify(answer);
  dependencies.observer.log("warn", "a vendor refused to delete a video that was deleted here", {
    task: task.id,
    provider: provider.id,
    status: answer.status,
  });
}

/** null: no vendor has the task, or its provider type makes no videos any more. */
function upstreamOf({ accounts }: TaskDependencies, { account, upstreamId }: Task) {
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || upstreamId === null || found === null) return null;
  return { ...found, provider: accounts.providerOf(account), upstreamId };
}
