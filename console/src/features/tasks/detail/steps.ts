import type { TaskDetail } from "@sluice/contract";
import { t } from "../../../language/areas/tasks.ts";

type Event = TaskDetail["events"][number];

export interface Step extends Event {
  readonly words: string;
  /** How long the task was in this state; null: it still is. */
  readonly stayedMs: number | null;
}

const words: Readonly<Record<string, string>> = {
  accepted: t("tasks.steps.accepted"),
  submitting: t("tasks.steps.submitting"),
  unknown: t("tasks.steps.unknown"),
  queued: t("tasks.steps.queued"),
  running: t("tasks.steps.running"),
  succeeded: t("tasks.steps.succeeded"),
  failed: t("tasks.steps.failed"),
  cancelled: t("tasks.steps.cancelled"),
  expired: t("tasks.steps.expired"),
};

/** The events in order, with the time until the next one. */
export function stepsOf(events: readonly Event[]): readonly Step[] {
  const inOrder = [...events].sort((one, other) => one.at - other.at);
  return inOrder.map((event, at) => {
    const next = inOrder[at + 1];
    return {
      ...event,
      words: words[event.status] ?? event.status,
      stayedMs: next === undefined ? null : next.at - event.at,
    };
  });
}
