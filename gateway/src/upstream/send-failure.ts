import { type AccountFault, Failure, type FailureCode } from "#core/index.ts";

/**
 * A failure between the gateway and the upstream. Callers see the message, so it has no address; the operator's log has the cause. It
 * counts against the deployment. The upstream may have executed the request, so its sender decides about a retry.
 */
export function sendFailure(code: FailureCode, message: string, cause?: unknown, accountFault?: AccountFault): Failure {
  return new Failure(code, message, { retry: "other", unhealthy: true, cause, ...(accountFault && { accountFault }) });
}

/** The same before any byte of the request left this machine. */
export function unsentFailure(message: string, accountFault: AccountFault, cause?: unknown): Failure {
  return new Failure("upstream_unreachable", message, {
    retry: "other",
    unhealthy: true,
    arrival: "unsent",
    cause,
    accountFault,
  });
}

export type WaitName = "connect" | "headers" | "first_event" | "idle" | "total";

const waitTexts: Readonly<Record<WaitName, string>> = {
  connect: "did not accept a connection in time",
  headers: "did not begin to answer in time",
  first_event: "did not send its first event in time",
  idle: "stopped sending in the middle of its answer",
  total: "took longer than one attempt is allowed",
};

export function timedOut(wait: WaitName, limitMs: number): Failure {
  return sendFailure(
    "upstream_timeout",
    `The upstream ${waitTexts[wait]} (${wait} timeout, ${Math.round(limitMs)} ms).`,
  );
}

/** The upstream had closed an idle connection, which is noticed only when writing to it. The deployment is healthy. */
export function staleConnection(cause: unknown): Failure {
  return new Failure("upstream_unreachable", "The upstream had closed the connection.", {
    retry: "same",
    arrival: "stale",
    cause,
  });
}

export function clientClosed(): Failure {
  return new Failure("client_closed", "The caller went away before the answer was complete.", { retry: "never" });
}

export function refusedUrl(reason: string): Failure {
  return unsentFailure(`The upstream's URL cannot be used: ${reason}.`, "url");
}

export function refusedAddress(kind: "private" | "forbidden", hostname: string): Failure {
  const message =
    kind === "private"
      ? "The upstream's address is not public, and its provider is not allowed to use the private network."
      : "The upstream's address is forbidden.";
  return unsentFailure(message, `${kind}_address`, new Error(`refused to send to ${hostname}`));
}

/** A failure at the egress proxy, before any byte of the request left for the upstream. The message has no address. */
export function proxyFailure(reason: string, cause?: unknown): Failure {
  return unsentFailure(`The egress proxy ${reason}.`, "proxy", cause);
}

export function proxyRefused(status: number): Failure {
  if (status === 407) return proxyFailure("requires a user and a password, or others than were sent (status 407)");
  return proxyFailure(`did not open a tunnel to the upstream (status ${status})`);
}

export function proxyTimedOut(limitMs: number): Failure {
  return proxyFailure(`did not open a tunnel to the upstream in time (connect timeout, ${Math.round(limitMs)} ms)`);
}

/**
 * With these errors no byte of the request has left this machine, so another address may be tried. The same is true of a failed
 * handshake (EPROTO), but another address will not speak TLS either.
 */
const notConnectedCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
]);

/** OpenSSL's codes for an invalid certificate. */
const certificatePattern = /CERT|LEAF_SIGNATURE|CRL_/;

export function neverConnected(thrown: unknown): boolean {
  return notConnectedCodes.has(codeOf(thrown));
}

/** The other side closed or reset the connection. */
export function closedEarly(thrown: unknown): boolean {
  return codeOf(thrown) === "ECONNRESET" || codeOf(thrown) === "EPIPE";
}

/** A failure before the status line. */
export function failedSend(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const message = "The upstream could not be reached.";
  if (neverConnected(thrown) || codeOf(thrown) === "EPROTO") return unsentFailure(message, "unreachable", thrown);
  // The certificate is checked in the handshake, before the request.
  if (certificatePattern.test(codeOf(thrown))) return unsentFailure(message, "certificate", thrown);
  return sendFailure("upstream_unreachable", message, thrown, "unreachable");
}

/** A failure after the status line. */
export function failedRead(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return sendFailure("upstream_truncated", "The upstream's answer broke off before its end.", thrown);
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || !("code" in thrown)) return "";
  return typeof thrown.code === "string" ? thrown.code : "";
}
