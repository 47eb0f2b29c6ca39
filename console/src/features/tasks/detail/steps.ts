import type { TaskDetail } from "@sluice/contract";

type Event = TaskDetail["events"][number];

export interface Step extends Event {
  readonly words: string;
  /** How long it stayed so; null: still, or for good. */
  readonly stayedMs: number | null;
}

const words: Readonly<Record<string, string>> = {
  accepted: "Accepted, its cost set aside",
  submitting: "Being sent to the provider",
  unknown: "Sent; whether it arrived is not known",
  queued: "Queued at the provider",
  running: "Being made",
  succeeded: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
  expired: "Not done in time",
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
