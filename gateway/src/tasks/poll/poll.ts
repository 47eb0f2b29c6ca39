import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, type Task, type TaskOutput } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { settle, type Verdict } from "../settle/settle.ts";
import type { TaskStep } from "../store/task-rows.ts";
import type { TaskPass } from "../task-pass.ts";
import { pollClocks } from "../upstream-call.ts";
import { type VideoAdapter, videoKindOf } from "../video-lanes.ts";
import { cancelAtUpstream, readPoll, type Seen, type VideoState } from "./ask-vendor.ts";
import { askAgain, pollAgain, pollDelayMs } from "./pace.ts";

/** One poll of a task that an upstream has, and what follows from it. */
export async function poll(dependencies: TaskDependencies, pass: TaskPass, signal: AbortSignal): Promise<void> {
  await apply(dependencies, pass, await readPoll(dependencies, pass.task, signal), signal);
}

/**
 * What follows from a poll. One that failed ends nothing before the deadline; after it the task has expired, unless this
 * last poll says how it ended. One that failed after it is made again, for a while.
 */
export async function apply(
  dependencies: TaskDependencies,
  pass: TaskPass,
  seen: Seen,
  signal: AbortSignal,
): Promise<void> {
  if (seen.kind === "failed" && signal.aborted) {
    // It failed because this process stops: whoever takes the task next looks at once.
    await pass.leave({});
    return;
  }
  const verdict = verdictOf(dependencies, pass, seen);
  if (verdict !== null) {
    await settle(dependencies, pass, verdict);
    return;
  }
  if (dependencies.clock.now() >= pass.task.deadlineAt) {
    const unanswered = seen.kind === "failed";
    if (unanswered && (await askAgain(dependencies, pass, seen.failure.retryAfterMs ?? 0))) return;
    await expire(dependencies, pass, seen, signal);
    return;
  }
  if (seen.kind === "state") {
    await pollAgain(dependencies, pass, whatChanged(dependencies, pass.task, seen.state));
    return;
  }
  const isNewlyGone = seen.kind === "gone" && pass.task.goneSince == null;
  const { retryAfterMs = 0 } = seen.failure;
  await pollAgain(dependencies, pass, isNewlyGone ? { goneSince: dependencies.clock.now() } : {}, { retryAfterMs });
}

/** null: it goes on. */
function verdictOf(dependencies: TaskDependencies, pass: TaskPass, seen: Seen): Verdict | null {
  if (seen.kind === "state") return stateVerdict(dependencies, pass, seen.state);
  const { goneSince = null } = pass.task;
  // One such answer may be of a new task that is not everywhere yet, or a vendor's bad moment.
  const isGone =
    seen.kind === "gone" && goneSince !== null && dependencies.clock.now() - goneSince >= bounds.taskGoneMs;
  return isGone ? goneVerdict : null;
}

/** A success without anything to show is not one yet. */
function stateVerdict(dependencies: TaskDependencies, pass: TaskPass, seen: VideoState): Verdict | null {
  const { state, usage, rawUsage, startedAt, videoUrl } = seen;
  const told = { usage, rawUsage, startedAt };
  switch (state) {
    case "succeeded":
      return videoUrl === null ? null : { ...told, state, output: outputOf(dependencies, pass, seen, videoUrl) };
    case "failed":
    case "cancelled":
    case "expired":
      return { ...told, state, error: seen.error ?? usualErrors[state] };
    default:
      return null;
  }
}

const usualErrors = {
  failed: { code: "generation_failed", message: "The upstream could not make the video." },
  cancelled: { code: "cancelled", message: "The task was cancelled." },
  expired: { code: "expired", message: "The upstream gave the task up." },
} as const;

const goneVerdict: Verdict = {
  state: "failed",
  error: { code: "task_gone", message: "The upstream no longer knows the task." },
  mayBeCharged: true,
};

function outputOf({ clock }: TaskDependencies, pass: TaskPass, seen: VideoState, videoUrl: string): TaskOutput {
  const keepsSeconds = videoKindOf(pass.task.account?.kind ?? "")?.adapter.keepsSeconds;
  const guess = keepsSeconds === undefined ? null : Math.floor(clock.now() / 1_000) + keepsSeconds;
  return {
    videoUrl,
    lastFrameUrl: seen.lastFrameUrl,
    expiresAt: seen.expiresAt ?? guess,
    blobHash: null,
    contentType: null,
  };
}

/** It goes on. A word that the adapter does not know changes nothing. */
function whatChanged({ clock }: TaskDependencies, task: Task, seen: VideoState): TaskStep {
  const state = seen.state === "queued" || seen.state === "running" ? seen.state : task.state;
  // Where the vendor does not say when, it began when it was first seen running.
  const startedAt = task.startedAt ?? seen.startedAt ?? (state === "running" ? clock.now() : null);
  return {
    ...(state === task.state ? {} : { state }),
    ...(startedAt === task.startedAt ? {} : { startedAt }),
    progress: seen.progress ?? task.progress,
    ...(task.goneSince == null ? {} : { goneSince: null }),
  };
}

/**
 * The upstream is asked to stop, as far as it can be: nobody waits for the result any more. Only what it stopped before it ran
 * is free.
 */
async function expire(dependencies: TaskDependencies, pass: TaskPass, seen: Seen, signal: AbortSignal): Promise<void> {
  const stopped = await cancelAtUpstream(dependencies, pass.task, signal).catch(() => false);
  const queued = seen.kind === "state" && seen.state.state === "queued";
  await settle(dependencies, pass, {
    state: "expired",
    error: { code: "expired", message: "The task did not end before its deadline." },
    mayBeCharged: !(stopped && queued),
    usage: seen.kind === "state" ? seen.state.usage : null,
    rawUsage: seen.kind === "state" ? seen.state.rawUsage : null,
  });
}

type ListedTask = ReturnType<NonNullable<VideoAdapter["readList"]>>[number];

/**
 * Looks in the vendor's list for a task that may not have arrived. If found, it continues like any other. If not, it waits until its
 * deadline: a list without it proves nothing, so it is neither sent again nor abandoned. After the deadline it is abandoned once the list
 * was read without it, or could not be read for a while.
 */
export async function reconcile(dependencies: TaskDependencies, pass: TaskPass, signal: AbortSignal): Promise<void> {
  let unread = false;
  const found = await search(dependencies, pass.task, signal).catch((thrown: unknown) => {
    unread = true;
    dependencies.observer.log("debug", "A vendor's list could not be read.", {
      task: pass.task.id,
      reason: asFailure(thrown).message,
    });
    return null;
  });
  if (found !== null && (await adopt(dependencies, pass, found))) return;
  if (pass.over) return;
  if (unread && signal.aborted) {
    await pass.leave({});
    return;
  }
  if (dependencies.clock.now() >= pass.task.deadlineAt) {
    if (unread && (await askAgain(dependencies, pass))) return;
    await settle(dependencies, pass, {
      state: "expired",
      error: { code: "expired", message: "Nobody knows whether the upstream had the task; it was not heard of again." },
      mayBeCharged: true,
    });
    return;
  }
  await pollAgain(dependencies, pass);
}

/** Also what bears our own id is claimed first: where callers can write that field too, it proves nothing. */
async function adopt(
  { clock, chance }: TaskDependencies,
  pass: TaskPass,
  { upstreamId }: ListedTask,
): Promise<boolean> {
  if (!(await pass.claim(upstreamId))) return false;
  const now = clock.now();
  const dueAt = now + pollDelayMs({ ...pass.task, state: "queued" }, now, chance.unit());
  const detail = remarkSentence("taskEvent", { code: "found_in_list", params: {} });
  await pass.leave({ state: "queued", dueAt, detail, unansweredSince: null });
  return true;
}

async function search(dependencies: TaskDependencies, task: Task, signal: AbortSignal): Promise<ListedTask | null> {
  const { account, submittedAt } = task;
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || found?.adapter.list === undefined || found.adapter.readList === undefined) return null;
  const { kind, adapter } = found;
  const sentAt = submittedAt ?? task.createdAt;
  const draft = found.adapter.list(
    dependencies.accounts.providerOf(account),
    task.upstreamModel,
    sentAt - clocksApartMs,
  );
  const answer = await dependencies.providerClient.ask(kind, draft, pollClocks, signal);
  if (!answer.good) throw kind.classify(answer);
  const listed = adapter.readList?.(answer) ?? [];
  const named = listed.find(({ taskId }) => taskId === task.id);
  if (named !== undefined) return named;
  const alike = listed.filter((one) => isAlike(one, task, sentAt) && isSettledDown(one, dependencies.clock.now()));
  return firstFree(dependencies, task, alike);
}

/** What no other task has: one taken twice would be paid for twice. */
async function firstFree(
  { store }: TaskDependencies,
  task: Task,
  alike: readonly ListedTask[],
): Promise<ListedTask | null> {
  if (alike.length === 0) return null;
  const owners = await store.withUpstreamIds(alike.map(({ upstreamId }) => upstreamId));
  const others = owners.filter(
    ({ taskId, providerId }) => taskId !== task.id && providerId === task.account?.providerId,
  );
  const taken = new Set(others.map(({ upstreamId }) => upstreamId));
  return alike.find(({ upstreamId }) => !taken.has(upstreamId)) ?? null;
}

/** Asked for at that time, with these words. A list that does not show the words or the time says too little. */
function isAlike({ taskId, upstreamModel, prompt, createdAt }: ListedTask, task: Task, sentAt: number): boolean {
  if (taskId !== null || prompt === null || createdAt === null || prompt !== task.asked.prompt) return false;
  if (upstreamModel !== null && upstreamModel !== task.upstreamModel) return false;
  return createdAt >= sentAt - clocksApartMs && createdAt <= sentAt + arrivalMs;
}

/** Whoever made it has had the time to note that it is his. */
function isSettledDown({ createdAt }: ListedTask, now: number): boolean {
  return createdAt !== null && now - createdAt >= bounds.taskSubmitLeaseMs;
}

/**
 * How far the vendor's clock may be from ours, and how late a request may arrive there: a process that stood still after it had
 * noted that it sends, sends when it goes on, and its lease may have run out long before.
 */
const clocksApartMs = 120_000;
const arrivalMs = 900_000;
