import type { Failure } from "#core/index.ts";
import { unsentFailure } from "./send-failure.ts";

/** What went wrong at the egress proxy, before anything of the request had left for the upstream. No message names an address. */
export function proxyFailure(reason: string, cause?: unknown): Failure {
  return unsentFailure(`The egress proxy ${reason}.`, "proxy", cause);
}

export function proxyRefused(status: number): Failure {
  if (status === 407) return proxyFailure("wants a user and a password, or others than it was given (status 407)");
  return proxyFailure(`did not open a way to the upstream (status ${status})`);
}

export function proxyTimedOut(limitMs: number): Failure {
  return proxyFailure(`did not open a way to the upstream in time (connect timeout, ${Math.round(limitMs)} ms)`);
}
