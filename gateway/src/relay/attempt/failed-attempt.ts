import type { Retry } from "#core/index.ts";

/** An attempt that failed, in words that may be shown to whoever looks at the request. */
export interface FailedAttempt {
  readonly attemptId: string;
  readonly code: string;
  readonly message: string;
  readonly retry: Retry;
}
