import {
  blankEntry,
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
  type WebhookDelivery,
} from "#core/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { estimatedUsage } from "../accept/estimate.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { TaskStep } from "../store/task-rows.ts";
import { taskAnswer } from "../task-answer.ts";
import type { TaskPass } from "../task-pass.ts";
import { videoKindOf } from "../video-lanes.ts";

/** How a task has ended. */
export interface TaskEnd {
  readonly state: Extract<TaskState, "succeeded" | "failed" | "cancelled" | "expired">;
  readonly output?: TaskOutput;
  readonly error?: TaskError;
  /** null: the vendor reported none. */
  readonly usage?: Usage | null;
  /** The service tier and the cost that the vendor reports. */
  readonly served?: Served | undefined;
  readonly rawUsage?: string | null;
  readonly startedAt?: number | null;
  /** The upstream had the task, or may have had it, and did not confirm that it is free. */
  readonly mayBeCharged?: boolean;
  /** For the ledger entry of a refused task. */
  readonly httpStatus?: number;
  readonly upstreamStatus?: number | null;
  readonly errorCode?: string;
}

/**
 * Ends a task: state, ledger entry and webhook in one transaction, under the lease of the pass. The hold ends only after
 * that is stored. False: another pass has the task or ended it.
 */
export async function settle(pass: TaskPass, taskEnd: TaskEnd): Promise<boolean> {
  const { task, dependencies } = pass;
  const now = dependencies.clock.now();
  const entry = entryOf(task, taskEnd, now);
  const step = {
    state: taskEnd.state,
    progress: taskEnd.state === "succeeded" ? 100 : task.progress,
    output: taskEnd.output ?? null,
    error: taskEnd.error ?? null,
    usage: entry.usageSource === "none" ? null : entry.usage,
    rawUsage: entry.rawUsage,
    costNanoUsd: entry.costNanoUsd,
    startedAt: taskEnd.startedAt ?? task.startedAt,
    finishedAt: now,
    dueAt: null,
    detail: taskEnd.error?.message ?? "",
  };
  const endedTask: Task = { ...task, ...step, updatedAt: now };
  const delivery = deliveryFor(dependencies, endedTask, now);
  if (!(await finish(pass, step, [entry], delivery))) return false;
  if (endedTask.callbackUrl !== null) dependencies.deliveries.wake();
  dependencies.copies.enqueue(endedTask);
  return true;
}

/** Stores the last step of a task with its entries, then ends its hold. */
export async function finish(
  pass: TaskPass,
  step: TaskStep & { readonly state: TaskState },
  entries: readonly LedgerEntry[],
  delivery: WebhookDelivery | null,
): Promise<boolean> {
  const { observer, holds } = pass.dependencies;
  if (!(await pass.finish(step, entries, delivery))) return false;
  // Report the cost before the hold ends, so that budgets always count one of them.
  try {
    for (const entry of entries) observer.attemptEnd(entry);
  } finally {
    holds.settle(pass.task);
  }
  return true;
}

/**
 * The usage to charge. A success is charged as reported, or by the request (as an estimate) if the vendor reports none or
 * another unit than the price. A task that was canceled while it ran, or whose end is unknown, is charged as reported or
 * estimated. Failed and expired tasks cost only what the vendor reports.
 */
function billedUsage(task: Task, taskEnd: TaskEnd): { readonly usage: Usage; readonly source: UsageSource } {
  const reported = taskEnd.usage == null ? null : wholeCounts(taskEnd.usage);
  if (taskEnd.state !== "succeeded" && !isCharged(task, taskEnd)) {
    return { usage: reported ?? noUsage, source: reported === null ? "none" : "upstream" };
  }
  const estimate = estimatedUsage(task.params, videoKindOf(task.account?.kind ?? "")?.adapter.usualSeconds);
  if (reported === null)
    return {
      usage: { ...noUsage, videoSeconds: estimate.videoSeconds, ...tokensIfPriced(task, estimate) },
      source: "estimated",
    };
  if (taskEnd.state !== "succeeded") return { usage: reported, source: "upstream" };
  const table = task.priceTable ?? {};
  if ((table.videoSeconds ?? 0) > 0 && reported.videoSeconds === 0) {
    return { usage: { ...reported, videoSeconds: estimate.videoSeconds }, source: "estimated" };
  }
  if ((table.output ?? 0) > 0 && (table.videoSeconds ?? 0) === 0 && reported.output === 0) {
    return { usage: { ...reported, output: estimate.output }, source: "estimated" };
  }
  return { usage: reported, source: "upstream" };
}

function settledCost(task: Task, { served }: TaskEnd, usage: Usage): Settled {
  const { priceVersion: id, priceTable: table, model, createdAt: effectiveFrom, upstreamModel } = task;
  const price = id === null || table === null ? null : { id, table, model, effectiveFrom };
  const terms = task.account === null ? usualTerms : priceTermsOf(task.account);
  return settleCost({ price, usage, served, terms, upstreamModel });
}

/** Vendors charge for a canceled task that had started. */
function isCharged({ startedAt }: Task, taskEnd: TaskEnd): boolean {
  if (taskEnd.mayBeCharged === true) return true;
  return taskEnd.state === "cancelled" && (taskEnd.startedAt ?? startedAt) !== null;
}

/** Rounds vendors' counts up to whole numbers of at least 0. */
function wholeCounts(usage: Usage): Usage {
  const count = (value: number) => (value > 0 ? Math.min(Math.ceil(value), bounds.usageCountMax) : 0);
  return { ...usage, ...Object.fromEntries(usageClasses.map((name) => [name, count(usage[name])])) };
}

/** Tokens are estimated only if nothing else has a price. */
function tokensIfPriced({ priceTable }: Task, estimate: Usage): Partial<Usage> {
  const needed = (priceTable?.output ?? 0) > 0 && (priceTable?.videoSeconds ?? 0) === 0;
  return needed ? { output: estimate.output } : {};
}

export const endings: Readonly<
  Record<TaskEnd["state"], { readonly outcome: Outcome; readonly status: number; readonly code: string | null }>
> = {
  succeeded: { outcome: "succeeded", status: 200, code: null },
  failed: { outcome: "failed", status: 502, code: "upstream_error" },
  cancelled: { outcome: "cancelled", status: 499, code: "client_closed" },
  expired: { outcome: "failed", status: 504, code: "upstream_timeout" },
};

/** The ledger entry of a task, dated at its call. */
function entryOf(task: Task, taskEnd: TaskEnd, now: number): LedgerEntry {
  const ending = endings[taskEnd.state];
  const { usage, source } = billedUsage(task, taskEnd);
  return {
    ...blankEntry,
    attemptId: task.attemptId,
    requestId: task.requestId,
    at: task.createdAt,
    workspaceId: task.workspaceId,
    groupId: task.groupId,
    keyId: task.keyId,
    ...(task.personId === undefined ? {} : { personId: task.personId }),
    ...(task.actorId === undefined ? {} : { actorId: task.actorId }),
    model: task.servedModel ?? task.model,
    requestedModel: task.model,
    provider: task.account?.providerId ?? "",
    deployment: task.deployment,
    upstreamModel: task.upstreamModel,
    endpoint: "video",
    callerDialect: "video-tasks",
    upstreamDialect: "video-tasks",
    reservedNanoUsd: task.reservedNanoUsd,
    userAgent: task.userAgent,
    tags: task.tags,
    endedAt: now,
    outcome: ending.outcome,
    httpStatus: taskEnd.httpStatus ?? ending.status,
    upstreamStatus: taskEnd.upstreamStatus ?? null,
    errorCode: taskEnd.errorCode ?? ending.code,
    usage,
    usageSource: source,
    rawUsage: taskEnd.rawUsage ?? null,
    ...settledCost(task, taskEnd, usage),
    totalMs: Math.max(0, now - task.createdAt),
    upstreamMs: task.submittedAt === null ? null : Math.max(0, now - task.submittedAt),
    ...(task.warnings === undefined ? {} : { warnings: task.warnings }),
  };
}

/** null: the caller set no callback URL. */
function deliveryFor(
  { ids, publicUrl }: Pick<TaskDependencies, "ids" | "publicUrl">,
  task: Task,
  now: number,
): WebhookDelivery | null {
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
