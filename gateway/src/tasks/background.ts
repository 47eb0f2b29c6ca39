import { outcomeOf } from "#bodies/index.ts";
import {
  asFailure,
  bounds,
  type Failure,
  keptResponse,
  type LedgerEntry,
  type NanoUsd,
  ownerOf,
  type Principal,
  responseTaskId,
  settle,
  type Task,
  type TaskState,
  throwIfGone,
  type Usage,
  usualTerms,
  within,
} from "#core/index.ts";
import { rawUsageWithin, wholeUsage } from "#ledger/index.ts";
import type { ReplyFacts } from "#protocols/index.ts";
import { lanesOf, priceTermsOf, providerKind } from "#providers/index.ts";
import { type Measured, measuredReply, pricesAt, storedResponseDraft, usedByOthers } from "#relay/index.ts";
import type { TaskDependencies } from "./dependencies.ts";
import { askAgain, pollAgain } from "./poll/pace.ts";
import { endings, finish } from "./settle/settle.ts";
import type { TaskStep } from "./store/task-rows.ts";
import { TaskPass } from "./task-pass.ts";
import { accountOf, ownSignal, pollClocks } from "./upstream-call.ts";

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

/**
 * The same now, because somebody is about to end it or delete it. It is polled again within `nextMs`. Past its deadline it is cancelled
 * at its vendor, whose answer says what it costs. Only what the vendor has forgotten, or does not answer for, is charged as an estimate.
 */
async function pollResponse(
  dependencies: TaskDependencies,
  pass: TaskPass,
  signal: AbortSignal,
  nextMs: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { clock, observer } = dependencies;
  const isOver = clock.now() >= pass.task.deadlineAt;
  let seen = await askVendor(dependencies, pass.task, "GET", signal);
  if (isOver && (seen.kind === "open" || seen.kind === "failed")) {
    if (mayRun(seen) && !(await pass.step(begun(pass.task, clock.now())))) return;
    seen = await askVendor(dependencies, pass.task, "POST", signal);
  }
  const { task } = pass;
  const now = clock.now();
  if (seen.kind === "failed" && signal.aborted) {
    await pass.leave({});
    return;
  }
  if (seen.kind === "ended") {
    await settleResponse(dependencies, pass, seen.facts);
    return;
  }
  const retryAfterMs = seen.kind === "failed" ? (seen.failure?.retryAfterMs ?? 0) : 0;
  const { goneSince = null } = task;
  const isGone = seen.kind === "gone" && goneSince !== null && now - goneSince >= bounds.taskGoneMs;
  if (isGone || isOver) {
    if (seen.kind !== "gone" && (await askAgain(dependencies, pass, retryAfterMs))) return;
    const fields = { task: task.id, provider: task.account?.providerId, upstreamId: task.upstreamId, last: seen.kind };
    observer.log("warn", "background response charged as an estimate: its vendor did not report its end", fields);
    await settleResponse(dependencies, pass, null);
    return;
  }
  const step: TaskStep = {
    ...(seen.kind === "open" && mayRun(seen) ? begun(task, now) : {}),
    ...(seen.kind === "gone" ? { goneSince: goneSince ?? now } : {}),
    ...(seen.kind === "open" && goneSince !== null ? { goneSince: null } : {}),
  };
  await pollAgain(dependencies, pass, step, { retryAfterMs, mostMs: nextMs });
}

/** What only waits has made nothing yet, and costs its input alone when it is cancelled. */
function mayRun(seen: Seen): boolean {
  return seen.kind !== "open" || seen.facts.status !== "queued";
}

function begun({ state }: Task, now: number): TaskStep {
  return state === "queued" ? { state: "running", startedAt: now } : {};
}

/**
 * Before the first poll: its account is the one that the config snapshot has, and its money is set aside, because whoever made it may have died
 * before. Without an account it waits until its deadline. False: the lease was lost.
 */
async function prepareResponse({ configSnapshot, holds }: TaskDependencies, pass: TaskPass): Promise<boolean> {
  if (pass.task.account !== null) return true;
  await holds.ensure(pass.task);
  const provider = configSnapshot().providers.get(openEntryOf(pass.task).provider);
  return provider === undefined || (await pass.step({ account: accountOf(provider) }));
}

/** GET: shows it. POST: cancels it, which an ended one survives. Never throws. */
async function askVendor(
  { providerClient, accounts, memory, bodies }: TaskDependencies,
  task: Task,
  method: "GET" | "POST",
  signal: AbortSignal,
): Promise<Seen> {
  const { account, upstreamId, upstreamModel } = task;
  const kind = account === null ? null : providerKind(account.kind);
  if (account === null || kind === null || upstreamId === null) return { kind: "failed", failure: null };
  const held = memory.open(ownerOf(task), "answer");
  try {
    const provider = accounts.providerOf(account);
    const lane = lanesOf(kind, provider).find(({ endpoint }) => endpoint === "responses");
    if (lane === undefined) return { kind: "failed", failure: null };
    const rest = method === "POST" ? "/cancel" : "";
    const draft = storedResponseDraft({ provider, lane }, { upstreamModel, upstreamId, method, rest });
    const answer = await providerClient.ask(kind, draft, pollClocks, signal, (bytes) => held.hold(bytes));
    if (answer.status === 404 || answer.status === 410) return { kind: "gone" };
    if (!answer.good) return { kind: "failed", failure: kind.classify(answer) };
    const what = { endpoint: "responses" as const, dialect: lane.dialect, usage: lane.traits?.usage };
    const facts = outcomeOf(await bodies.do("reply", what, answer.body, { signal })).answer;
    if (facts.errorMessage !== null) return { kind: "failed", failure: null };
    return { kind: ended.has(facts.status ?? "completed") ? "ended" : "open", facts };
  } catch (thrown) {
    return { kind: "failed", failure: asFailure(thrown) };
  } finally {
    held.release();
  }
}

/** A word that is not known here says nothing of an end. */
const ended: ReadonlySet<string> = new Set(["completed", "incomplete", "failed", "cancelled"]);

/** Sets the money of a background response aside, before its task is stored. Never rejects: it is charged in any case. */
export async function holdForResponse(
  { admission, holds, observer }: TaskDependencies,
  principal: Principal,
  attemptId: string,
  nanoUsd: NanoUsd,
): Promise<void> {
  const id = responseTaskId(attemptId);
  try {
    holds.keep(id, await admission.hold(principal, nanoUsd, true, id));
  } catch (error) {
    observer.log("warn", "The money of a background response could not be set aside.", { task: id, error });
  }
}

/**
 * Polls a response before it is cancelled or deleted, which may be the last time that its upstream says what it used. Never rejects:
 * where nothing can be learned, the task is charged as an estimate.
 */
export async function refreshResponse(
  dependencies: TaskDependencies,
  workspaceId: string,
  upstreamId: string,
): Promise<void> {
  const { clock, store, observer, journal } = dependencies;
  const over = new AbortController();
  const refreshing = (async (): Promise<void> => {
    // The task of a call that has just been answered comes out of the journal.
    await within(
      clock,
      bounds.taskRefreshMs,
      journal.drained(over.signal),
      () => throwIfGone(over.signal),
      over.signal,
    );
    for (const { taskId } of await store.withUpstreamIds([upstreamId])) {
      const leased = await store.leaseOne(taskId, clock.now(), bounds.taskLeaseMs);
      if (leased === null) continue;
      const pass = new TaskPass(dependencies, leased);
      if (leased.task.kind !== "response" || leased.task.workspaceId !== workspaceId) await pass.leave({});
      else if (await prepareResponse(dependencies, pass))
        await pollResponse(dependencies, pass, ownSignal(), bounds.taskTickMs);
    }
  })().catch((error: unknown) => {
    observer.log("warn", "A background response could not be polled before it was ended.", { upstreamId, error });
  });
  await within(clock, bounds.taskPollTotalMs, refreshing, () => undefined);
  over.abort();
}

/**
 * Ends the task of a background response: the entry of the attempt that began it goes into the ledger with what the answer used, at
 * the price of that moment. `facts` null: nobody can say what became of it, so it costs what was expected of it.
 */
async function settleResponse(dependencies: TaskDependencies, pass: TaskPass, facts: ReplyFacts | null): Promise<void> {
  const { task } = pass;
  const open = openEntryOf(task);
  const now = dependencies.clock.now();
  const state = stateOf(facts);
  const told = measured(open, task, facts);
  const usage = wholeUsage(told.usage);
  const ending = endings[state];
  const entry: LedgerEntry = {
    ...open,
    endedAt: now,
    outcome: ending.outcome,
    httpStatus: ending.status,
    errorCode: ending.code,
    usage,
    usageSource: told.source,
    rawUsage: rawUsageWithin(facts?.usage?.raw ?? null),
    ...settle({ ...(await pricing(dependencies, task)), usage, served: told.served }),
    totalMs: Math.max(open.totalMs, now - open.at),
    ...(state === "expired" || open.upstreamId === null
      ? {}
      : { objects: keptResponse(open.upstreamId, facts?.items ?? [], usage, now + bounds.responseKeptMs) }),
  };
  const entries = [...othersOf(dependencies, task, entry, told), entry];
  const step = {
    state,
    usage: told.source === "none" ? null : usage,
    rawUsage: entry.rawUsage,
    costNanoUsd: entry.costNanoUsd,
    finishedAt: now,
    dueAt: null,
    error: ending.code === null ? null : { code: ending.code, message: messages[state] },
  };
  await finish(dependencies, pass, { step, entries, delivery: null });
}

/** The ledger entry of its attempt, as far as the call that began it could say. */
function openEntryOf({ request }: Pick<Task, "request">): LedgerEntry {
  return JSON.parse(request);
}

type EndState = Extract<TaskState, "succeeded" | "failed" | "cancelled" | "expired">;

const messages: Readonly<Record<EndState, string>> = {
  succeeded: "",
  failed: "The upstream could not make the response.",
  cancelled: "The response was cancelled.",
  expired: "The upstream did not say how the response ended.",
};

function stateOf(facts: ReplyFacts | null): EndState {
  if (facts === null) return "expired";
  return facts.status === "failed" || facts.status === "cancelled" ? facts.status : "succeeded";
}

/** What the answer says it used. Where it says nothing: a failure is free, and of the rest what was expected counts. */
function measured({ usage: expected }: LedgerEntry, { startedAt }: Task, facts: ReplyFacts | null): Measured {
  const estimate: Measured = { usage: expected, source: "estimated" };
  if (facts === null) return estimate;
  const told = measuredReply(facts, () => expected.inputUncached);
  if (told.source === "upstream") return { ...told, usage: withCounted(told.usage, expected) };
  if (facts.status === "failed") return told;
  // What was made until then is hardly ever shown. What only waited made nothing.
  const most = facts.status === "cancelled" && startedAt === null ? 0 : expected.output;
  const output =
    facts.status !== "cancelled" && told.source !== "none" ? told.usage.output : Math.max(most, told.usage.output);
  return {
    ...told,
    usage: withCounted({ ...expected, ...(told.source === "none" ? {} : told.usage), output }, expected),
    source: "estimated",
  };
}

/** What is charged by the request, and what was asked for and is not told. */
function withCounted(told: Usage, { inputUncached: _, output: __, ...counted }: Usage): Usage {
  const missing = Object.entries(counted).filter(([name, count]) => count > 0 && told[name as keyof Usage] === 0);
  return { ...told, ...Object.fromEntries(missing) };
}

/** By the version that was in force when the call was made; another model that the upstream took by the one in force now. */
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

/** Entries of what other models used for it. */
function othersOf(
  { configSnapshot, ids }: TaskDependencies,
  { account }: Task,
  entry: LedgerEntry,
  told: Measured,
): LedgerEntry[] {
  const terms = account === null ? usualTerms : priceTermsOf(account);
  return usedByOthers(configSnapshot(), entry, told).map(({ fields, price, usage: used, served }) => {
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
