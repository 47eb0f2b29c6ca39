import { asFailure, Failure, type Task } from "#core/index.ts";
import { accountRedactor } from "#providers/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { adapterGone, pollClocks } from "../upstream-call.ts";
import { type VideoAdapter, videoKindOf } from "../video-lane-match.ts";

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
  const { account, upstreamId, upstreamModel } = task;
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || upstreamId === null || found === null) {
    return { kind: "failed", failure: adapterGone(account?.kind ?? "") };
  }
  const { kind, adapter } = found;
  const { providerClient } = dependencies;
  try {
    const provider = dependencies.accounts.providerOf(account);
    const draft = adapter.poll(provider, upstreamModel, upstreamId);
    const answer = await providerClient.ask(kind, draft, pollClocks, signal);
    const gone = adapter.saysGone?.(answer) === true;
    if (!answer.good) return { kind: gone ? "gone" : "failed", failure: kind.classify(answer) };
    if (gone) return { kind: "gone", failure: noSuchTask() };
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

function noSuchTask(): Failure {
  return new Failure("upstream_error", "The upstream knows no such task.", { retry: "same" });
}
