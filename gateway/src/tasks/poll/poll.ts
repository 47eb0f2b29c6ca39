import { remarkSentence } from "@sluice/contract/words";
import { asFailure, bounds, type Task, type TaskOutput } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { settle, type TaskEnd } from "../settle/settle.ts";
import type { TaskStep } from "../store/task-rows.ts";
import type { TaskPass } from "../task-pass.ts";
import { pollClocks } from "../upstream-call.ts";
import { type VideoAdapter, videoKindOf } from "../video-lanes.ts";
import { cancelAtUpstream, type PollResult, pollVendor, type VideoState } from "./ask-vendor.ts";
import { pollDelayMs } from "./pace.ts";
import { retryAfterDeadline, scheduleNextPoll } from "./schedule.ts";

/** Polls a task once and applies the result. */
export async function poll(pass: TaskPass): Promise<void> {
  await applyPollResult(pass, await pollVendor(pass.dependencies, pass.task, pass.signal));
}

/**
 * A failed poll ends nothing before the deadline. Past the deadline the task expires, unless this poll returned its end or
 * the vendor did not answer yet.
 */
export async function applyPollResult(pass: TaskPass, seen: PollResult): Promise<void> {
  if (seen.kind === "failed" && pass.signal.aborted) {
    // The poll failed because this process stops; the task is due at once.
    await pass.release({});
    return;
  }
  const taskEnd = taskEndOf(pass, seen);
  if (taskEnd !== null) {
    await settle(pass, taskEnd);
    return;
  }
  if (pass.dependencies.clock.now() >= pass.task.deadlineAt) {
    const unanswered = seen.kind === "failed";
    if (unanswered && (await retryAfterDeadline(pass, seen.failure.retryAfterMs ?? 0))) return;
    await expire(pass, seen);
    return;
  }
  if (seen.kind === "state") {
    await scheduleNextPoll(pass, stepFor(pass.dependencies, pass.task, seen.state));
    return;
  }
  const isNewlyGone = seen.kind === "gone" && pass.task.goneSince == null;
  const { retryAfterMs = 0 } = seen.failure;
  await scheduleNextPoll(pass, isNewlyGone ? { goneSince: pass.dependencies.clock.now() } : {}, {
    retryAfterMs,
  });
}

/** null: the task has not ended. */
function taskEndOf(pass: TaskPass, seen: PollResult): TaskEnd | null {
  if (seen.kind === "state") return endOfState(pass, seen.state);
  const { goneSince = null } = pass.task;
  // A single "not found" may be a new task that is not replicated yet.
  const isGone =
    seen.kind === "gone" && goneSince !== null && pass.dependencies.clock.now() - goneSince >= bounds.taskGoneMs;
  return isGone ? goneEnd : null;
}

/** A success without a video URL is not final yet. */
function endOfState(pass: TaskPass, seen: VideoState): TaskEnd | null {
  const { state, usage, rawUsage, startedAt, videoUrl } = seen;
  const reported = { usage, rawUsage, startedAt };
  switch (state) {
    case "succeeded":
      return videoUrl === null ? null : { ...reported, state, output: outputOf(pass, seen, videoUrl) };
    case "failed":
    case "cancelled":
    case "expired":
      return { ...reported, state, error: seen.error ?? defaultErrors[state] };
    default:
      return null;
  }
}

const defaultErrors = {
  failed: { code: "generation_failed", message: "The upstream could not make the video." },
  cancelled: { code: "cancelled", message: "The task was cancelled." },
  expired: { code: "expired", message: "The task expired at the upstream." },
} as const;

const goneEnd: TaskEnd = {
  state: "failed",
  error: { code: "task_gone", message: "The upstream has no record of the task any more." },
  mayBeCharged: true,
};

function outputOf(pass: TaskPass, seen: VideoState, videoUrl: string): TaskOutput {
  const { clock } = pass.dependencies;
  const keepsSeconds = videoKindOf(pass.task.account?.kind ?? "")?.adapter.keepsSeconds;
  const assumedExpiry = keepsSeconds === undefined ? null : Math.floor(clock.now() / 1_000) + keepsSeconds;
  return {
    videoUrl,
    lastFrameUrl: seen.lastFrameUrl,
    expiresAt: seen.expiresAt ?? assumedExpiry,
    blobHash: null,
    contentType: null,
  };
}

/** An unknown status changes nothing. */
function stepFor({ clock }: TaskDependencies, task: Task, seen: VideoState): TaskStep {
  const state = seen.state === "queued" || seen.state === "running" ? seen.state : task.state;
  // Without a vendor's time, the first poll that reports it running.
  const startedAt = task.startedAt ?? seen.startedAt ?? (state === "running" ? clock.now() : null);
  return {
    ...(state === task.state ? {} : { state }),
    ...(startedAt === task.startedAt ? {} : { startedAt }),
    progress: seen.progress ?? task.progress,
    ...(task.goneSince == null ? {} : { goneSince: null }),
  };
}

/** Cancels at the upstream if possible. Only a task that was canceled while queued is free. */
async function expire(pass: TaskPass, seen: PollResult): Promise<void> {
  const isCancelled = await cancelAtUpstream(pass.dependencies, pass.task, pass.signal).catch(() => false);
  const wasQueued = seen.kind === "state" && seen.state.state === "queued";
  await settle(pass, {
    state: "expired",
    error: { code: "expired", message: "The task did not end before its deadline." },
    mayBeCharged: !(isCancelled && wasQueued),
    usage: seen.kind === "state" ? seen.state.usage : null,
    rawUsage: seen.kind === "state" ? seen.state.rawUsage : null,
  });
}

type ListedTask = ReturnType<NonNullable<VideoAdapter["readList"]>>[number];

/**
 * Searches the vendor's list for a task that may not have arrived. If found, it continues like any other. If not, it waits
 * for its deadline, because a list without it proves nothing: it is neither sent again nor given up. Past the deadline it
 * expires once the list was read without it, or could not be read for a while.
 */
export async function reconcile(pass: TaskPass): Promise<void> {
  let listFailed = false;
  const found = await findInVendorList(pass).catch((thrown: unknown) => {
    listFailed = true;
    pass.dependencies.observer.log("debug", "failed to read a vendor's list of video tasks", {
      task: pass.task.id,
      reason: asFailure(thrown).message,
    });
    return null;
  });
  if (found !== null && (await adopt(pass, found))) return;
  if (pass.isOver) return;
  if (listFailed && pass.signal.aborted) {
    await pass.release({});
    return;
  }
  if (pass.dependencies.clock.now() >= pass.task.deadlineAt) {
    if (listFailed && (await retryAfterDeadline(pass))) return;
    await settle(pass, {
      state: "expired",
      error: {
        code: "expired",
        message: "It is unknown whether the upstream received the task, and its deadline has passed.",
      },
      mayBeCharged: true,
    });
    return;
  }
  await scheduleNextPoll(pass);
}

/** Claims the id first, even if it has our task id: callers may be able to write that field. */
async function adopt(pass: TaskPass, { upstreamId }: ListedTask): Promise<boolean> {
  const { clock, chance } = pass.dependencies;
  if (!(await pass.claim(upstreamId))) return false;
  const now = clock.now();
  const dueAt = now + pollDelayMs({ ...pass.task, state: "queued" }, now, chance.unit());
  const detail = remarkSentence("taskEvent", { code: "found_in_list", params: {} });
  await pass.release({ state: "queued", dueAt, detail, unansweredSince: null });
  return true;
}

async function findInVendorList({ dependencies, task, signal }: TaskPass): Promise<ListedTask | null> {
  const { account, submittedAt } = task;
  const found = account === null ? null : videoKindOf(account.kind);
  if (account === null || found?.adapter.list === undefined || found.adapter.readList === undefined) return null;
  const { kind, adapter } = found;
  const sentAt = submittedAt ?? task.createdAt;
  const draft = found.adapter.list(dependencies.accounts.providerOf(account));
  const answer = await dependencies.providerClient.ask(kind, draft, pollClocks, signal);
  if (!answer.good) throw kind.classify(answer);
  const listed = adapter.readList?.(answer) ?? [];
  const named = listed.find(({ taskId }) => taskId === task.id);
  if (named !== undefined) return named;
  const candidates = listed.filter(
    (one) => matchesTask(one, task, sentAt) && isOldEnough(one, dependencies.clock.now()),
  );
  return firstUnowned(dependencies, task, candidates);
}

/** An upstream task that two tasks share would be charged twice. */
async function firstUnowned(
  { store }: TaskDependencies,
  task: Task,
  candidates: readonly ListedTask[],
): Promise<ListedTask | null> {
  if (candidates.length === 0) return null;
  const owners = await store.withUpstreamIds(candidates.map(({ upstreamId }) => upstreamId));
  const others = owners.filter(
    ({ taskId, providerId }) => taskId !== task.id && providerId === task.account?.providerId,
  );
  const owned = new Set(others.map(({ upstreamId }) => upstreamId));
  return candidates.find(({ upstreamId }) => !owned.has(upstreamId)) ?? null;
}

/** Same prompt, model and time. A list without prompt or time is not enough. */
function matchesTask({ taskId, upstreamModel, prompt, createdAt }: ListedTask, task: Task, sentAt: number): boolean {
  if (taskId !== null || prompt === null || createdAt === null || prompt !== task.params.prompt) return false;
  if (upstreamModel !== null && upstreamModel !== task.upstreamModel) return false;
  return createdAt >= sentAt - clockSkewMs && createdAt <= sentAt + arrivalDelayMs;
}

/** The task that created it has had time to store its id. */
function isOldEnough({ createdAt }: ListedTask, now: number): boolean {
  return createdAt !== null && now - createdAt >= bounds.taskSubmitLeaseMs;
}

/** The vendor's clock may be off, and a suspended process may send long after its lease ended. */
const clockSkewMs = 120_000;
const arrivalDelayMs = 900_000;
