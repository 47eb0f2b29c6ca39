import { Failure } from "#core/index.ts";

/** A missing or invalid stored credential, found before anything was sent. */
export function unusableCredential(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other", unhealthy: true, accountFault: "credential" });
}

/**
 * The gateway got no credential from its identity. Callers may read the message: it has the step and an error code, but no
 * path, account or text of the issuer.
 */
export function noIdentity(message: string, cause?: unknown): Failure {
  return new Failure("upstream_error", message, {
    retry: "other",
    unhealthy: true,
    arrival: "unsent",
    accountFault: "identity",
    cause,
  });
}
