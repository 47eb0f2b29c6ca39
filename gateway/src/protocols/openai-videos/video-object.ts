import { shownState, type Task, videoIdOf } from "#core/index.ts";
import { frameSize } from "./frame-size.ts";

/**
 * A video task as OpenAI's clients are shown a video (openai@7.55.0, resources/videos). Times are Unix seconds. What was neither
 * asked for nor told by the upstream is null.
 */
export function videoObject(task: Task): Readonly<Record<string, unknown>> {
  const { asked, output } = task;
  const done = task.state === "succeeded";
  const seconds = asked.durationSeconds ?? task.usage?.videoSeconds ?? 0;
  const size = asked.ratio === null || asked.resolution === null ? null : frameSize(asked.ratio, asked.resolution);
  return {
    id: videoIdOf(task.id),
    object: "video",
    model: task.model,
    status: words[shownState(task.state)],
    progress: done ? 100 : (task.progress ?? 0),
    created_at: Math.floor(task.createdAt / 1_000),
    completed_at: done && task.finishedAt !== null ? Math.floor(task.finishedAt / 1_000) : null,
    expires_at: output?.expiresAt ?? null,
    seconds: seconds > 0 ? String(seconds) : null,
    size: size === null ? null : `${size.width}x${size.height}`,
    prompt: asked.prompt,
    error: errorOf(task),
    remixed_from_video_id: asked.remixOf === undefined ? null : videoIdOf(asked.remixOf),
  };
}

/** A video that was taken back or given up has failed, in words that OpenAI's clients wait for. */
const words = {
  queued: "queued",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
} as const satisfies Record<ReturnType<typeof shownState>, string>;

function errorOf({ state, error, finishedAt }: Task): Task["error"] {
  if (finishedAt === null || state === "succeeded") return null;
  return error ?? { code: state, message: `The video is ${state}.` };
}
