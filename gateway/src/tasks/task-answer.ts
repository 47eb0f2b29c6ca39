import { markIn } from "#bodies/index.ts";
import { nanoToUsd, shownState, type Task, tokensOf, type Usage } from "#core/index.ts";
import { isObject, type JsonObject, objectOf } from "#protocols/index.ts";
import { baseDelayMs } from "./poll/pace.ts";
import { videoKindOf } from "./video-lanes.ts";

/** A video task in the API. Times are Unix seconds. */
export function taskAnswer(task: Task, publicUrl: string | null): Readonly<Record<string, unknown>> {
  const { params } = task;
  const open = task.finishedAt === null;
  return {
    id: task.id,
    task_id: task.id,
    object: "video.task",
    model: task.model,
    status: shownState(task.state),
    progress: task.progress,
    created_at: seconds(task.createdAt),
    updated_at: seconds(task.updatedAt),
    started_at: seconds(task.startedAt),
    finished_at: seconds(task.finishedAt),
    expires_at: seconds(task.deadlineAt),
    prompt: params.prompt,
    ratio: params.ratio,
    duration: params.durationSeconds,
    resolution: params.resolution,
    audio: params.audio,
    watermark: params.watermark,
    seed: params.seed,
    ...(params.remixOf === undefined ? {} : { remix_of: params.remixOf }),
    output: outputOf(task, publicUrl),
    error: task.error,
    usage: task.usage === null ? null : usageOf(task.usage),
    cost: taskCost(task),
    metadata: task.metadata,
    poll_after_ms: open ? pollAfterMs(task) : null,
  };
}

/** When to poll an open task again, in milliseconds. */
export function pollAfterMs(task: Task): number {
  return Math.round(baseDelayMs(task, task.updatedAt));
}

/** The request for display, with a note in place of inline material, which makes it incomplete. */
export function requestForDisplay({ request }: Pick<Task, "request">): {
  readonly request: JsonObject;
  readonly complete: boolean;
} {
  let whole = true;
  const shown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shown);
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one)]));
    const found = typeof value === "string" ? markIn(value) : null;
    if (found === null) return value;
    whole = false;
    const type = /^data:([^;,]+)/i.exec(found.head)?.[1] ?? "text";
    return `(inline material, ${type}, ${found.mark.length} bytes, not kept)`;
  };
  return { request: objectOf(shown(JSON.parse(request))), complete: whole };
}

function outputOf(task: Task, publicUrl: string | null) {
  const { output } = task;
  if (output === null) return null;
  const content = `${publicUrl ?? ""}/v1/video/tasks/${task.id}/content`;
  return {
    video_url: isPublic(task, output.videoUrl) ? output.videoUrl : content,
    ...(output.lastFrameUrl === null ? {} : { last_frame_url: output.lastFrameUrl }),
    content_url: content,
    // When the vendor's link expires; a copy here lasts longer.
    expires_at: output.expiresAt,
  };
}

/** False if the link needs the account's credential or holds the bytes itself. */
function isPublic({ account }: Task, url: string): boolean {
  const needsCredential = account !== null && videoKindOf(account.kind)?.adapter.content !== undefined;
  return !needsCredential && /^https?:\/\//i.test(url);
}

function usageOf(usage: Usage) {
  return { output_tokens: usage.output, total_tokens: tokensOf(usage), video_seconds: usage.videoSeconds };
}

/** The held amount while the task runs, then its cost; an estimate if the vendor reported no usage. */
export function taskCost(task: Task): { readonly amount_usd: number; readonly estimated: boolean } | null {
  if (task.priceTable === null) return null;
  if (task.finishedAt === null) return { amount_usd: nanoToUsd(task.reservedNanoUsd), estimated: true };
  const estimated = task.usage !== null && task.rawUsage === null;
  return { amount_usd: nanoToUsd(task.costNanoUsd ?? 0), estimated };
}

function seconds(ms: number): number;
function seconds(ms: number | null): number | null;
function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1_000);
}
