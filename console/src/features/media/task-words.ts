import type { ConsoleTask } from "@sluice/contract";
import { formatCount, formatDuration } from "../../client/format.ts";
import { t as words } from "../../language/areas/formats.ts";
import { t } from "../../language/areas/media.ts";

export function isOpen({ status }: Pick<ConsoleTask, "status">): boolean {
  return status === "queued" || status === "running";
}

/** "16:9, 5 s, 720p": the parameters except the prompt. */
export function shapeOf(task: Pick<ConsoleTask, "ratio" | "duration" | "resolution">): string {
  const duration = task.duration === null ? null : lengthOf(task.duration);
  return [task.ratio, duration, task.resolution].filter((each) => each !== null).join(", ");
}

/** A negative duration lets the model decide. */
function lengthOf(seconds: number): string {
  return seconds < 0 ? t("media.task.anyLength") : formatSeconds(seconds);
}

/** A short reason why there is no video. */
export function absenceOf(task: Pick<ConsoleTask, "status" | "error">): string {
  if (task.status === "queued") return t("media.task.queued");
  if (task.status === "running") return t("media.task.running");
  if (task.status === "succeeded") return t("media.task.linkExpired");
  if (task.status === "failed") return task.error?.message ?? t("media.task.failed");
  return task.status === "cancelled" ? t("media.task.cancelled") : t("media.task.expired");
}

/** "9 s", "1 min 47 s": whole seconds are precise enough for tasks that take minutes. */
export function formatElapsed(ms: number): string {
  return ms < 60_000 ? formatSeconds(Math.floor(ms / 1_000)) : formatDuration(ms);
}

export function formatSeconds(seconds: number): string {
  return seconds < 60 ? words("formats.s", { count: formatCount(seconds) }) : formatDuration(seconds * 1_000);
}

/** The duration of a task, or the time since its start. */
export function tookMs(task: Pick<ConsoleTask, "created_at" | "finished_at">, now: number): number {
  return Math.max(0, (task.finished_at ?? now) - task.created_at);
}
