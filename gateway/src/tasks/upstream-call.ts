import { bounds, Failure } from "#core/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";

/** Of what may be asked at any time: a state, a list, a cancellation. */
export const pollClocks: RequestClocks = {
  connectMs: bounds.taskPollConnectMs,
  headersMs: bounds.taskPollHeadersMs,
  totalMs: bounds.taskPollTotalMs,
};

/** A signal that nobody gives: what it belongs to is bounded by its own clocks. */
export function ownSignal(): AbortSignal {
  return new AbortController().signal;
}

export function adapterGone(kind: string): Failure {
  return new Failure("internal_error", `Nothing here knows how the kind "${kind}" makes videos.`);
}
