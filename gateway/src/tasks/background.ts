import { outcomeOf } from "#bodies/index.ts";
import {
  asFailure,
  bounds,
  type Failure,
  type LedgerEntry,
  type NanoUsd,
  ownerOf,
  type PolicyCall,
  type Principal,
  responseObjects,
  responseTaskId,
  settle,
  type Task,
  type TaskState,
  throwIfGone,
  tokensOf,
  type Usage,
  usualTerms,
  within,
} from "#core/index.ts";
import { rawUsageWithin, wholeUsage } from "#ledger/index.ts";
import type { ReplyFacts } from "#protocols/index.ts";
import { lanesOf, priceTermsOf, providerKind } from "#providers/index.ts";
import { type MeasuredUsage, measuredReply, pricesAt, storedResponseDraft, usedByOthers } from "#relay/index.ts";
import type { TaskDependencies } from "./dependencies.ts";
import { retryAfterDeadline, scheduleNextPoll } from "./poll/schedule.ts";
import { endings, finish } from "./settle/settle.ts";
import type { TaskStep } from "./store/task-rows.ts";
import { TaskPass } from "./task-pass.ts";
import { pollClocks, taskAccountOf } from "./upstream-call.ts";

/**
 * The result of polling a background response.
 *
 * - open: in progress.
 * - ended: final; `facts` has its usage.
 * - gone: the vendor deleted it or does not keep it any more.
 * - failed: the poll failed.
 */
type PollResult =
  | { readonly kind: "open" | "ended"; readonly facts: ReplyFacts }
  | { readonly kind: "gone" }
  | { readonly kind: "failed"; readonly failure: Failure | null };

/**
 * Polls a response now and applies the result. If it is still open, the next poll is due within `withinMs`. Past its
 * deadline it is canceled at the vendor, whose answer has the usage. It is charged as an estimate only if the vendor has no
 * record or does not answer.
 */
export async function pollResponse(pass: TaskPass, withinMs: number = Number.POSITIVE_INFINITY): Promise<void> {
  const { dependencies, signal } = pass;
  const { clock, observer } = dependencies;
  const isPastDeadline = clock.now() >= pass.task.deadlineAt;
  let result = await requestResponse(dependencies, pass.task, "GET", signal);
  if (isPastDeadline && (result.kind === "open" || result.kind === "failed")) {
    if (mayRun(result) && !(await pass.step(runningStep(pass.task, clock.now())))) return;
    result = await requestResponse(dependencies, pass.task, "POST", signal);
  }
  const { task } = pass;
  const now = clock.now();
  if (result.kind === "failed" && signal.aborted) {
    await pass.release({});
    return;
  }
  if (result.kind === "ended") {
    await settleResponse(pass, result.facts);
    return;
  }
  const retryAfterMs = result.kind === "failed" ? (result.failure?.retryAfterMs ?? 0) : 0;
  const { goneSince = null } = task;
  const isGone = result.kind === "gone" && goneSince !== null && now - goneSince >= bounds.taskGoneMs;
  if (isGone || isPastDeadline) {
    if (result.kind !== "gone" && (await retryAfterDeadline(pass, retryAfterMs))) return;
    const fields = {
      task: task.id,
      provider: task.account?.providerId,
      upstreamId: task.upstreamId,
      last: result.kind,
    };
    observer.log("warn", "background response charged as an estimate: its vendor did not report its end", fields);
    await settleResponse(pass, null);
    return;
  }
  const step: TaskStep = {
    ...(result.kind === "open" && mayRun(result) ? runningStep(task, now) : {}),
    ...(result.kind === "gone" ? { goneSince: goneSince ?? now } : {}),
    ...(result.kind === "open" && goneSince !== null ? { goneSince: null } : {}),
  };
  await scheduleNextPoll(pass, step, { retryAfterMs, withinMs });
}

/** A queued response has produced nothing; canceling it costs only its input. */
function mayRun(result: PollResult): boolean {
  return result.kind !== "open" || result.facts.status !== "queued";
}

function runningStep({ state }: Task, now: number): TaskStep {
  return state === "queued" ? { state: "running", startedAt: now } : {};
}

/**
 * Prepares the first poll: stores the account, and holds the money again in case the process that created the response
 * stopped. Without an account the task waits until its deadline. False: the lease was lost.
 */
export async function prepareResponse(pass: TaskPass): Promise<boolean> {
  const { configSnapshot, holds } = pass.dependencies;
  if (pass.task.account !== null) return true;
  const { provider: providerId } = openEntryOf(pass.task);
  await holds.ensure({ ...pass.task, provider: providerId });
  const provider = configSnapshot().providers.get(providerId);
  return provider === undefined || (await pass.step({ account: taskAccountOf(provider) }));
}

/** GET reads the response, POST cancels it. Never throws. */
async function requestResponse(
  { providerClient, accounts, memory, bodies }: TaskDependencies,
  task: Task,
  method: "GET" | "POST",
  signal: AbortSignal,
): Promise<PollResult> {
  const { account, upstreamId, upstreamModel } = task;
  const kind = account === null ? null : providerKind(account.kind);
  if (account === null || kind === null || upstreamId === null) return { kind: "failed", failure: null };
  const held = memory.open(ownerOf(task), "answer");
  try {
    const provider = accounts.providerOf(account);
    const endpoint = endpointOf(task);
    const lane = lanesOf(kind, provider).find((one) => one.endpoint === endpoint);
    if (lane === undefined) return { kind: "failed", failure: null };
    const rest = method === "POST" ? "/cancel" : "";
    const draft = storedResponseDraft({ provider, lane }, { upstreamModel, upstreamId, method, rest });
    const answer = await providerClient.ask(kind, draft, pollClocks, signal, (bytes) => held.hold(bytes));
    if (answer.status === 404 || answer.status === 410) return { kind: "gone" };
    if (!answer.good) return { kind: "failed", failure: kind.classify(answer) };
    const what = { endpoint, dialect: lane.dialect, usage: lane.traits?.usage };
    const facts = outcomeOf(await bodies.do("reply", what, answer.body, { signal })).answer;
    if (facts.errorMessage !== null) return { kind: "failed", failure: null };
    return { kind: finalStatuses.has(facts.status ?? "completed") ? "ended" : "open", facts };
  } catch (thrown) {
    return { kind: "failed", failure: asFailure(thrown) };
  } finally {
    held.release();
  }
}

function endpointOf(task: Task): "interactions" | "responses" {
  return openEntryOf(task).endpoint === "interactions" ? "interactions" : "responses";
}

/** An unknown status does not end a response. Neither does `requires_continuation`: the vendor continues it in the background. */
const finalStatuses: ReadonlySet<string> = new Set([
  ...["completed", "incomplete", "failed", "cancelled"],
  ...["requires_action", "budget_exceeded"],
]);

/** Holds money before the task is stored. Never rejects: the response is charged in any case. */
export async function holdForResponse(
  { admission, holds, observer }: TaskDependencies,
  principal: Principal,
  attemptId: string,
  nanoUsd: NanoUsd,
  call: PolicyCall & { readonly provider: string },
): Promise<void> {
  const id = responseTaskId(attemptId);
  try {
    holds.keep(id, await admission.hold(principal, nanoUsd, true, id, call));
  } catch (error) {
    observer.log("warn", "failed to hold money for a background response", { task: id, error });
  }
}

/**
 * Polls a response before the caller cancels or deletes it, the last chance to read its usage. Never rejects; without usage
 * the task is charged as an estimate.
 */
export async function refreshResponse(
  dependencies: TaskDependencies,
  workspaceId: string,
  upstreamId: string,
): Promise<void> {
  const { clock, store, observer, journal } = dependencies;
  const timeout = new AbortController();
  const refreshing = (async (): Promise<void> => {
    // The task of a recent call may still be in the journal.
    await within(
      clock,
      bounds.taskRefreshMs,
      journal.drained(timeout.signal),
      () => throwIfGone(timeout.signal),
      timeout.signal,
    );
    for (const { taskId } of await store.withUpstreamIds([upstreamId])) {
      const leased = await store.leaseOne(taskId, clock.now(), bounds.taskLeaseMs);
      if (leased === null) continue;
      const pass = new TaskPass(dependencies, leased);
      if (leased.task.kind !== "response" || leased.task.workspaceId !== workspaceId) await pass.release({});
      else if (await prepareResponse(pass)) await pollResponse(pass, bounds.taskTickMs);
    }
  })().catch((error: unknown) => {
    observer.log("warn", "failed to poll a background response before its cancellation or deletion", {
      upstreamId,
      error,
    });
  });
  await within(clock, bounds.taskPollTotalMs, refreshing, () => undefined);
  timeout.abort();
}

/**
 * Ends the task and writes the ledger entry of its attempt, at the price of the call. `facts` null: the result is unknown,
 * so the estimate is charged.
 */
async function settleResponse(pass: TaskPass, facts: ReplyFacts | null): Promise<void> {
  const { task, dependencies } = pass;
  const open = openEntryOf(task);
  const now = dependencies.clock.now();
  const state = endStateOf(facts);
  const measuredUsage = responseUsage(open, task, facts);
  const usage = wholeUsage(measuredUsage.usage);
  const ending = endings[state];
  const entry: LedgerEntry = {
    ...open,
    endedAt: now,
    outcome: ending.outcome,
    httpStatus: ending.status,
    errorCode: ending.code,
    usage,
    usageSource: measuredUsage.source,
    rawUsage: rawUsageWithin(facts?.usage?.raw ?? null),
    ...settle({ ...(await pricing(dependencies, task)), usage, served: measuredUsage.served }),
    totalMs: Math.max(open.totalMs, now - open.at),
    ...(state === "expired" || open.upstreamId === null
      ? {}
      : { objects: storedObjects(task, open.upstreamId, facts?.items ?? [], usage, now + bounds.storedResponseMs) }),
  };
  const entries = [...otherModelEntries(dependencies, task, entry, measuredUsage), entry];
  const step = {
    state,
    usage: measuredUsage.source === "none" ? null : usage,
    rawUsage: entry.rawUsage,
    costNanoUsd: entry.costNanoUsd,
    finishedAt: now,
    dueAt: null,
    error: ending.code === null ? null : { code: ending.code, message: endMessages[state] },
  };
  await finish(pass, step, entries, null);
}

function storedObjects(task: Task, id: string, items: readonly string[], usage: Usage, expiresAt: number) {
  if (endpointOf(task) === "responses") return responseObjects(id, items, usage, { expiresAt });
  return [{ id, kind: "interaction", inputTokens: tokensOf(usage), expiresAt }] as const;
}

function openEntryOf({ request }: Pick<Task, "request">): LedgerEntry {
  return JSON.parse(request);
}

type EndState = Extract<TaskState, "succeeded" | "failed" | "cancelled" | "expired">;

const endMessages: Readonly<Record<EndState, string>> = {
  succeeded: "",
  failed: "The upstream could not make the response.",
  cancelled: "The response was canceled.",
  expired: "The upstream did not report how the response ended.",
};

function endStateOf(facts: ReplyFacts | null): EndState {
  if (facts === null) return "expired";
  return facts.status === "failed" || facts.status === "cancelled" ? facts.status : "succeeded";
}

/** The reported usage. Without a report, a failure is free and anything else counts as estimated. */
function responseUsage({ usage: expected }: LedgerEntry, { startedAt }: Task, facts: ReplyFacts | null): MeasuredUsage {
  const estimate: MeasuredUsage = { usage: expected, source: "estimated" };
  if (facts === null) return estimate;
  const reported = measuredReply(facts, { inputTokens: () => expected.inputUncached });
  if (reported.source === "upstream") return { ...reported, usage: withRequestedCounts(reported.usage, expected) };
  if (facts.status === "failed") return reported;
  // A canceled response rarely reports its output. One that was still queued has none.
  const most = facts.status === "cancelled" && startedAt === null ? 0 : expected.output;
  const output =
    facts.status !== "cancelled" && reported.source !== "none"
      ? reported.usage.output
      : Math.max(most, reported.usage.output);
  return {
    ...reported,
    usage: withRequestedCounts(
      { ...expected, ...(reported.source === "none" ? {} : reported.usage), output },
      expected,
    ),
    source: "estimated",
  };
}

/** Adds counts that were charged by request and that the vendor does not report. */
function withRequestedCounts(reported: Usage, { inputUncached: _, output: __, ...counted }: Usage): Usage {
  const missing = Object.entries(counted).filter(([name, count]) => count > 0 && reported[name as keyof Usage] === 0);
  return { ...reported, ...Object.fromEntries(missing) };
}

/** The price version of the call. If the upstream used another model, its current price. */
async function pricing(
  { configSnapshot, ledger }: TaskDependencies,
  { priceVersion: id, account, upstreamModel }: Task,
) {
  const price = id === null ? null : await ledger.price(id);
  if (id !== null && price === null) throw new Error(`there is no price version ${id}`);
  if (account === null) return { price, terms: usualTerms, upstreamModel };
  return {
    price,
    terms: priceTermsOf(account),
    upstreamModel,
    priceOf: pricesAt(configSnapshot(), account.providerId),
  };
}

/** Entries for other models that took part in the response. */
function otherModelEntries(
  { configSnapshot, ids }: TaskDependencies,
  { account }: Task,
  entry: LedgerEntry,
  measuredUsage: MeasuredUsage,
): LedgerEntry[] {
  const terms = account === null ? usualTerms : priceTermsOf(account);
  return usedByOthers(configSnapshot(), entry, measuredUsage).map(({ fields, price, usage: used, served }) => {
    const usage = wholeUsage(used);
    return {
      ...fields,
      attemptId: ids.next("att_"),
      calls: 0,
      usage,
      usageSource: "upstream",
      rawUsage: null,
      ...settle({ price, usage, served, terms, upstreamModel: fields.upstreamModel }),
      upstreamId: null,
      objects: [],
    };
  });
}
