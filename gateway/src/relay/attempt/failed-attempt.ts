import type { Failure, Retry } from "#core/index.ts";

/** An attempt that failed, in words that may be shown to whoever looks at the request. */
export interface FailedAttempt {
  readonly attemptId: string;
  readonly code: string;
  readonly message: string;
  readonly retry: Retry;
}

/** Refused before any connection was tried. */
export function neverDialled({ accountFault }: Failure): boolean {
  return (
    accountFault === "url" ||
    accountFault === "name" ||
    accountFault === "private_address" ||
    accountFault === "forbidden_address"
  );
}
