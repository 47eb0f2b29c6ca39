import { Failure } from "#core/index.ts";

/** A caller that waits for one answer cannot be given events; one of the upstream's own dialect gets what it sends. */
export function unaskedStream(): Failure {
  return new Failure("upstream_error", "The upstream sent a stream that was not asked for.", {
    retry: "other",
    unhealthy: true,
  });
}

export function unaskedPacking(): Failure {
  return new Failure("upstream_error", "The upstream's answer has a content encoding that was not asked for.", {
    retry: "other",
    unhealthy: true,
  });
}

export function truncated(message: string): Failure {
  return new Failure("upstream_truncated", message, { retry: "other", unhealthy: true });
}
