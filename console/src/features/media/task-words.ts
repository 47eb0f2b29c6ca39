import type { ConsoleTask } from "@sluice/contract";
import { formatDuration } from "../../client/format.ts";
import { t } from "../../language/areas/media.ts";

export function isOpen({ status }: Pick<ConsoleTask, "status">): boolean {
  return status === "queued" || status === "running";
}

/** "16:9, 5 s, 720p": what was asked for beside the prompt. */
export function shapeOf(task: Pick<ConsoleTask, "ratio" | "duration" | "resolution">): string {
  const duration = task.duration === null ? null : task.duration < 0 ? t("media.anyLength") : `${task.duration} s`;
  return [task.ratio, duration, task.resolution].filter((each) => each !== null).join(", ");
}

/** Why there is no video to be seen, in a few words. */
export function absenceOf(task: Pick<ConsoleTask, "status" | "error">): string {
  if (task.status === "queued") return t("media.waitsForItsTurn");
  if (task.status === "running") return t("media.beingMade");
  if (task.status === "succeeded") return t("media.theProvidersLinkHasExpired");
  if (task.status === "failed") return task.error?.message ?? t("media.failed");
  return task.status === "cancelled" ? t("media.cancelled") : t("media.notDoneInTime");
}

/** "9 s", "1 min 47 s": whole seconds are exact enough for what takes minutes. */
export function formatElapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : formatDuration(ms);
}

/** How long it took, or has taken so far. */
export function tookMs(task: Pick<ConsoleTask, "created_at" | "finished_at">, now: number): number {
  return Math.max(0, (task.finished_at ?? now) - task.created_at);
}
