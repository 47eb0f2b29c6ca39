import { bounds, type Task, type TaskOutput } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { settle, type Verdict } from "../settle/settle.ts";
import type { TaskStep } from "../store/task-rows.ts";
import type { TaskPass } from "../task-pass.ts";
import { videoKindOf } from "../video-lanes.ts";
import { cancelAtUpstream, readPoll, type Seen, type VideoState } from "./ask-vendor.ts";
import { askAgain, pollAgain } from "./pace.ts";

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
