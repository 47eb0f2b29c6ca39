import {
  bounds,
  type LedgerEntry,
  noUsage,
  type Outcome,
  type Served,
  type Settled,
  settle as settleCost,
  type Task,
  type TaskError,
  type TaskOutput,
  type TaskState,
  type Usage,
  type UsageSource,
  usageClasses,
  usualTerms,
} from "#core/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { estimatedUsage } from "../accept/estimate.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { taskAnswer } from "../show.ts";
import type { Delivery } from "../store/task-leases.ts";
import type { TaskStep } from "../store/task-rows.ts";
import type { TaskPass } from "../task-pass.ts";
import { videoKindOf } from "../video-lanes.ts";

/** How a task has ended. */
export interface Verdict {
  readonly state: Extract<TaskState, "succeeded" | "failed" | "cancelled" | "expired">;
  readonly output?: TaskOutput;
  readonly error?: TaskError;
  /** As the vendor told it; null: it told nothing. */
  readonly usage?: Usage | null;
  /** How the vendor says it was served, and what it cost. */
  readonly served?: Served | undefined;
  readonly rawUsage?: string | null;
  readonly startedAt?: number | null;
  /** Nobody who would know has said that it is free: an upstream had it, or may have had it, and may charge for it. */
  readonly mayBeCharged?: boolean;
  /** Of the ledger entry, where a refusal had one of its own. */
  readonly httpStatus?: number;
  readonly upstreamStatus?: number | null;
  readonly errorCode?: string;
}

/**
 * Ends a task: state, ledger entry and the caller's message in one transaction, under the pass's lease. Only when that is
 * stored is the money that was set aside given back or taken. False: somebody else has the task, or ended it.
 */
export async function settle(dependencies: TaskDependencies, pass: TaskPass, verdict: Verdict): Promise<boolean> {
  const { clock } = dependencies;
  const before = pass.task;
  const now = clock.now();
  const { usage, source } = measured(before, verdict);
  const settled = settledCost(before, verdict, usage);
  const { costNanoUsd } = settled;
  const step = {
    state: verdict.state,
    progress: verdict.state === "succeeded" ? 100 : before.progress,
    output: verdict.output ?? null,
    error: verdict.error ?? null,
    usage: source === "none" ? null : usage,
    rawUsage: verdict.rawUsage ?? null,
    costNanoUsd,
    startedAt: verdict.startedAt ?? before.startedAt,
    finishedAt: now,
    dueAt: null,
    detail: verdict.error?.message ?? "",
  };
  const entry = entryOf(before, verdict, { usage, source, settled, now });
  const after: Task = { ...before, ...step, updatedAt: now };
  const delivery = deliveryFor(dependencies, after, now);
  if (!(await finish(dependencies, pass, { step, entries: [entry], delivery }))) return false;
  if (after.callbackUrl !== null) dependencies.deliveries.wake();
  dependencies.copies.take(after);
  return true;
}

/** The last step of a task with its entries. What was set aside for it is given back when all of it is stored. */
export async function finish(
  { observer, holds }: TaskDependencies,
  pass: TaskPass,
  end: {
    readonly step: TaskStep & { readonly state: TaskState };
    readonly entries: readonly LedgerEntry[];
    readonly delivery: Delivery | null;
  },
): Promise<boolean> {
  if (!(await pass.finish(end.step, end.entries, end.delivery))) return false;
  // What it cost is told before what was set aside is given back, so that at no time neither counts.
  try {
    for (const entry of end.entries) observer.attemptEnd(entry);
  } finally {
    holds.settle(pass.task);
  }
  return true;
}

/**
 * What is paid for. A success that the vendor measured in another unit than its price, or not at all, is measured by what
 * was asked for, and called an estimate. So is a task that was taken back while it ran, and one of which nobody said how it
 * ended. Everything else costs only what the vendor said it used: what the vendor calls failed or expired is free.
 */
function measured(task: Task, verdict: Verdict): { readonly usage: Usage; readonly source: UsageSource } {
  const told = verdict.usage == null ? null : wholeCounts(verdict.usage);
  if (verdict.state !== "succeeded" && !isCharged(task, verdict)) {
    return { usage: told ?? noUsage, source: told === null ? "none" : "upstream" };
  }
  const guess = estimatedUsage(task.asked, videoKindOf(task.account?.kind ?? "")?.adapter.usualSeconds);
  if (told === null)
    return {
      usage: { ...noUsage, videoSeconds: guess.videoSeconds, ...tokensIfPriced(task, guess) },
      source: "estimated",
    };
  if (verdict.state !== "succeeded") return { usage: told, source: "upstream" };
  const table = task.priceTable ?? {};
  if ((table.videoSeconds ?? 0) > 0 && told.videoSeconds === 0) {
    return { usage: { ...told, videoSeconds: guess.videoSeconds }, source: "estimated" };
  }
  if ((table.output ?? 0) > 0 && (table.videoSeconds ?? 0) === 0 && told.output === 0) {
    return { usage: { ...told, output: guess.output }, source: "estimated" };
  }
  return { usage: told, source: "upstream" };
}

/** By the price that the task was accepted with. */
function settledCost(task: Task, { served }: Verdict, usage: Usage): Settled {
  const { priceVersion: id, priceTable: table, model, createdAt: effectiveFrom, upstreamModel } = task;
  const price = id === null || table === null ? null : { id, table, model, effectiveFrom };
  const terms = task.account === null ? usualTerms : priceTermsOf(task.account);
  return settleCost({ price, usage, served, terms, upstreamModel });
}

/** Vendors charge for what ran, also when it was stopped, unless they say otherwise. */
function isCharged({ startedAt }: Task, verdict: Verdict): boolean {
  if (verdict.mayBeCharged === true) return true;
  return verdict.state === "cancelled" && (verdict.startedAt ?? startedAt) !== null;
}

/** Vendors may say anything; an entry holds whole counts of at least 0. */
function wholeCounts(usage: Usage): Usage {
  const counts: { -readonly [Class in keyof Usage]: number } = { ...usage };
  for (const name of usageClasses) {
    counts[name] = usage[name] > 0 ? Math.min(Math.ceil(usage[name]), bounds.usageCountMax) : 0;
  }
  return counts;
}

/** A guess at tokens is made only where nothing else has a price. */
function tokensIfPriced({ priceTable }: Task, guess: Usage): Partial<Usage> {
  const needed = (priceTable?.output ?? 0) > 0 && (priceTable?.videoSeconds ?? 0) === 0;
  return needed ? { output: guess.output } : {};
}

interface Measured {
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly settled: Settled;
  readonly now: number;
}

/** How entries say that a task has ended. */
export const endings: Readonly<
  Record<Verdict["state"], { readonly outcome: Outcome; readonly status: number; readonly code: string | null }>
> = {
  succeeded: { outcome: "succeeded", status: 200, code: null },
  failed: { outcome: "failed", status: 502, code: "upstream_error" },
  cancelled: { outcome: "cancelled", status: 499, code: "client_closed" },
  expired: { outcome: "failed", status: 504, code: "upstream_timeout" },
};

/** The one entry of a task. It stands at the time of its call, as the entries of other calls do. */
function entryOf(task: Task, verdict: Verdict, { usage, source, settled, now }: Measured): LedgerEntry {
  const ending = endings[verdict.state];
  return {
    attemptId: task.attemptId,
    requestId: task.requestId,
    at: task.createdAt,
    startedAfterMs: 0,
    workspaceId: task.workspaceId,
    groupId: task.groupId,
    keyId: task.keyId,
    ...(task.personId === undefined ? {} : { personId: task.personId }),
    model: task.servedModel ?? task.model,
    requestedModel: task.model,
    provider: task.account?.providerId ?? "",
    deployment: task.deployment,
    upstreamModel: task.upstreamModel,
    endpoint: "video",
    callerDialect: "video-tasks",
    upstreamDialect: "video-tasks",
    stream: false,
    retryIndex: 0,
    inputEstimate: 0,
    reservedNanoUsd: task.reservedNanoUsd,
    userAgent: task.userAgent,
    tags: task.tags,
    endedAt: now,
    outcome: ending.outcome,
    httpStatus: verdict.httpStatus ?? ending.status,
    upstreamStatus: verdict.upstreamStatus ?? null,
    errorCode: verdict.errorCode ?? ending.code,
    usage,
    usageSource: source,
    rawUsage: verdict.rawUsage ?? null,
    ...settled,
    totalMs: Math.max(0, now - task.createdAt),
    firstByteMs: null,
    firstTokenMs: null,
    upstreamMs: task.submittedAt === null ? null : Math.max(0, now - task.submittedAt),
    overheadMs: null,
    upstreamId: null,
  };
}

/** What the caller is told of a task that has ended; null when it did not ask to be told. */
function deliveryFor(
  { ids, publicUrl }: Pick<TaskDependencies, "ids" | "publicUrl">,
  task: Task,
  now: number,
): Delivery | null {
  if (task.callbackUrl === null) return null;
  const message = {
    type: `video.task.${task.state}`,
    timestamp: new Date(now).toISOString(),
    data: taskAnswer(task, publicUrl),
  };
  return {
    id: ids.next("msg_"),
    taskId: task.id,
    workspaceId: task.workspaceId,
    url: task.callbackUrl,
    body: JSON.stringify(message),
    tries: 0,
    dueAt: now,
    createdAt: now,
    lastStatus: null,
    lastError: null,
    deliveredAt: null,
  };
}
