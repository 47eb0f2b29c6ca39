import { Failure, type FailureCode, type FailureOptions } from "#core/index.ts";

/** A failure as it goes from one thread to another. */
export interface CarriedFailure extends Omit<FailureOptions, "cause" | "upstream"> {
  readonly code: FailureCode;
  readonly message: string;
  /** What was thrown where it is none of ours: its name and words, for the log. */
  readonly unexpected: string | null;
}

export function carriedFailure(failure: Failure): CarriedFailure {
  const { code, message, param, retry, retryAfterMs, details, unhealthy, arrival, contextLength, cause } = failure;
  const unexpected = code !== "internal_error" ? null : cause instanceof Error ? `${cause.name}: ${cause.message}` : "";
  return {
    code,
    message,
    param,
    retry,
    unhealthy,
    arrival,
    contextLength,
    unexpected,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(details === undefined ? {} : { details }),
  };
}

export function failureOf({ code, message, unexpected, ...options }: CarriedFailure): Failure {
  return new Failure(code, message, unexpected === null ? options : { ...options, cause: new Error(unexpected) });
}
