import type { TaskDetail } from "@sluice/contract";
import { t } from "../../../language/areas/tasks.ts";

type Event = TaskDetail["events"][number];

export interface Step extends Event {
  readonly words: string;
  /** How long it stayed so; null: still, or for good. */
  readonly stayedMs: number | null;
}

const words: Readonly<Record<string, string>> = {
  accepted: t("tasks.acceptedItsCostSetAside"),
  submitting: t("tasks.beingSentToTheProvider"),
  unknown: t("tasks.sentWhetherItArrivedIs"),
  queued: t("tasks.queuedAtTheProvider"),
  running: t("tasks.beingMade"),
  succeeded: t("tasks.done"),
  failed: t("tasks.failed"),
  cancelled: t("tasks.cancelled"),
  expired: t("tasks.notDoneInTime"),
};

/** The events in the order in which they came, with the time until the next. */
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
