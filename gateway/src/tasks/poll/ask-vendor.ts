import { asFailure, Failure, type Task } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { adapterGone, pollClocks } from "../upstream-call.ts";
import { type VideoAdapter, videoKindOf } from "../video-lanes.ts";

export type VideoState = ReturnType<VideoAdapter["readState"]>;

/** What a poll has shown. `gone`: the vendor says that there is no such task. */
export type Seen =
  | { readonly kind: "state"; readonly state: VideoState }
  | { readonly kind: "gone" | "failed"; readonly failure: Failure };

/** Asks the account that has the task how it is, and hides the account's secrets in what it says of a failure. Never throws. */
export async function readPoll(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<Seen> {
  const seen = await ask(dependencies, task, signal);
  if (task.account === null) return seen;
  const redactor = accountRedactor(dependencies.accounts.providerOf(task.account));
  if (seen.kind !== "state") return { ...seen, failure: redactor.failure(seen.failure) };
  const { error } = seen.state;
  if (error === null) return seen;
  const shown = { code: redactor.text(error.code), message: redactor.text(error.message) };
  return { kind: "state", state: { ...seen.state, error: shown } };
}

async function ask(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<Seen> {
  const upstream = upstreamOf(dependencies, task);
  if (upstream === null) return { kind: "failed", failure: adapterGone(task.account?.kind ?? "") };
  const { kind, adapter, provider, upstreamId } = upstream;
  const { providerClient } = dependencies;
  try {
    const draft = adapter.poll(provider, task.upstreamModel, upstreamId);
    const answer = await providerClient.ask(kind, draft, pollClocks, signal);
    const gone = adapter.saysGone?.(answer) === true;
    if (!answer.good) return { kind: gone ? "gone" : "failed", failure: kind.classify(answer) };
    if (gone) {
      return {
        kind: "gone",
        failure: new Failure("upstream_error", "The upstream knows no such task.", { retry: "same" }),
      };
    }
    const state = adapter.readState(answer, provider);
    if (state.next === null || adapter.readNext === undefined) return { kind: "state", state };
    // A vendor that has the file's address in another place: one more question, never a chain of them.
    const next = await providerClient.ask(kind, state.next, pollClocks, signal);
    const shown = next.good ? adapter.readNext(next, state) : (adapter.readNextRefusal?.(next, state) ?? null);
    return shown === null ? { kind: "failed", failure: kind.classify(next) } : { kind: "state", state: shown };
  } catch (thrown) {
    return { kind: "failed", failure: asFailure(thrown) };
  }
}

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

/** A vendor that refuses has nothing to delete, or lets nobody: neither is a reason to keep the video here. */
export async function removeAtUpstream(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<void> {
  // Of what was taken back nothing was made, and there are vendors who count a second call as a refusal.
  if (task.state === "cancelled") return;
  const upstream = upstreamOf(dependencies, task);
  const draft = upstream?.adapter.remove?.(upstream.provider, task.upstreamModel, upstream.upstreamId) ?? null;
  if (upstream === null || draft === null) return;
  const { kind, provider } = upstream;
  const answer = await dependencies.providerClient.ask(kind, draft, pollClocks, signal);
  if (answer.good || answer.status === 404 || answer.status === 410) return;
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408) throw kind.classify(answer);
  dependencies.observer.log("warn", "A vendor did not delete a video that was deleted here.", {
    task: task.id,
    provider: provider.id,
    status: answer.status,
  });
}

/** The vendor's side of a task; null: no vendor has it, or its kind makes no videos any more. */
function upstreamOf({ accounts }: TaskDependencies, { account, upstreamId }: Task) {
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || upstreamId === null || found === null) return null;
  return { ...found, provider: accounts.providerOf(account), upstreamId };
}
