import { bounds, Failure } from "#core/index.ts";

/** The disk or the bucket takes or gives nothing now, and may do so later. */
export function storageUnavailable(cause: unknown): Failure {
  return new Failure("storage_unavailable", "The place where files are kept cannot be used now; try again.", {
    retry: "same",
    retryAfterMs: bounds.storageRetryAfterMs,
    cause,
  });
}

export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}
