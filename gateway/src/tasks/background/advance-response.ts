import { asFailure, bounds, type Failure, type Task } from "#core/index.ts";
import { openaiResponsesWire, type ReplyFacts, withoutMark } from "#protocols/index.ts";
import { lanesOf, type OutboundDraft, providerKind } from "#providers/index.ts";
import { storedResponseUrl } from "#relay/index.ts";
import { accountOf } from "../accounts.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { pollDelayMs } from "../poll/poll-delay.ts";
import { askAgain } from "../poll/unanswered.ts";
import type { TaskPass } from "../task-pass.ts";
import { pollClocks } from "../upstream-call.ts";
import { openEntryOf, settleResponse } from "./settle-response.ts";

/**
 * What a poll of a background response has shown.
 *
 *   open    it is still made
 *   ended   it is as it will stay: `facts` say what it used
 *   gone    the vendor has no such response: it was deleted, or it is no longer kept
 *   failed  nothing was learned
 */
type Seen =
  | { readonly kind: "open" | "ended"; readonly facts: ReplyFacts }
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly failure: Failure | null };

/** One poll of a background response in its turn, and what follows from it. */
export async function advanceResponse(
  dependencies: TaskDependencies,
  pass: TaskPass,
  signal: AbortSignal,
): Promise<void> {
  if (!(await prepareResponse(dependencies, pass))) return;
  const { account } = pass.task;
  const place = account === null ? null : await dependencies.rates.turn(pass.task, account, signal);
  if (place === null) await pollResponse(dependencies, pass, signal);
  else await pass.leave({ dueAt: place, placeAt: place });
}

/** The same now, because somebody is about to end it or delete it. It is looked at again soon after. */
export async function pollResponse(
  dependencies: TaskDependencies,
  pass: TaskPass,
  signal: AbortSignal,
  nextMs: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { clock, chance } = dependencies;
  const { task } = pass;
  const seen = await readResponse(dependencies, task, signal);
  const now = clock.now();
  if (seen.kind === "failed" && signal.aborted) {
    await pass.leave({});
    return;
  }
  if (seen.kind === "ended") {
    await settleResponse(dependencies, pass, seen.facts);
    return;
  }
  const { goneSince = null } = task;
  const isGone = seen.kind === "gone" && goneSince !== null && now - goneSince >= bounds.taskGoneMs;
  if (isGone || now >= task.deadlineAt) {
    const retryAfterMs = seen.kind === "failed" ? (seen.failure?.retryAfterMs ?? 0) : 0;
    if (seen.kind === "failed" && (await askAgain(dependencies, pass, retryAfterMs))) return;
    await settleResponse(dependencies, pass, null);
    return;
  }
  const runs = seen.kind === "open" && seen.facts.status === "in_progress" && task.state === "queued";
  const retryAfterMs = seen.kind === "failed" ? Math.min(seen.failure?.retryAfterMs ?? 0, bounds.taskGoneMs) : 0;
  const delayMs = Math.min(nextMs, Math.max(pollDelayMs(task, now, chance.unit()), retryAfterMs));
  await pass.leave({
    dueAt: Math.min(now + delayMs, task.deadlineAt),
    polls: task.polls + 1,
    ...(runs ? { state: "running" as const, startedAt: now } : {}),
    ...(seen.kind === "gone" ? { goneSince: goneSince ?? now } : {}),
    ...(seen.kind === "open" && goneSince !== null ? { goneSince: null } : {}),
  });
}

/**
 * Before the first poll: its account is the one that the catalog has, and its money is set aside, because whoever made it may have died
 * before. Without an account it waits until its deadline. False: the lease was lost.
 */
export async function prepareResponse({ catalog, holds }: TaskDependencies, pass: TaskPass): Promise<boolean> {
  if (pass.task.account !== null) return true;
  await holds.ensure(pass.task);
  const provider = catalog().providers.get(openEntryOf(pass.task).provider);
  return provider === undefined || (await pass.step({ account: accountOf(provider) }));
}

/** Never throws. */
async function readResponse(
  { providerClient, accounts }: TaskDependencies,
  { account, upstreamId, upstreamModel }: Task,
  signal: AbortSignal,
): Promise<Seen> {
  const kind = account === null ? null : providerKind(account.kind);
  if (account === null || kind === null || upstreamId === null) return { kind: "failed", failure: null };
  try {
    const provider = accounts.providerOf(account);
    const lane = lanesOf(kind, provider).find(({ endpoint }) => endpoint === "responses");
    if (lane === undefined) return { kind: "failed", failure: null };
    const draft: OutboundDraft = {
      provider,
      upstreamModel,
      stream: false,
      method: "GET",
      url: storedResponseUrl(provider, lane.path, upstreamId),
      headers: {},
      body: null,
    };
    const answer = await providerClient.ask(kind, draft, pollClocks, signal);
    if (answer.status === 404 || answer.status === 410) return { kind: "gone" };
    if (!answer.good) return { kind: "failed", failure: kind.classify(answer) };
    const facts = openaiResponsesWire.readReply(withoutMark(answer.body));
    if (facts.errorMessage !== null) return { kind: "failed", failure: null };
    return { kind: ended.has(facts.status ?? "completed") ? "ended" : "open", facts };
  } catch (thrown) {
    return { kind: "failed", failure: asFailure(thrown) };
  }
}

/** A word that is not known here says nothing of an end. */
const ended: ReadonlySet<string> = new Set(["completed", "incomplete", "failed", "cancelled"]);
