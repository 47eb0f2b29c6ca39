import { type AccountFault, Failure, type FailureCode } from "#core/index.ts";

/**
 * What went wrong between us and the upstream, as a Failure. Callers see the message, so it names no address; the
 * operator's log has the cause. All but the caller's own leaving counts against the deployment. Whether what was sent may be
 * sent elsewhere too is for whoever sent it to decide: it may have been done.
 */
export function sendFailure(code: FailureCode, message: string, cause?: unknown, accountFault?: AccountFault): Failure {
  return new Failure(code, message, { retry: "other", unhealthy: true, cause, ...(accountFault && { accountFault }) });
}

/** The same for what went wrong before anything of the request had left this machine. */
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
  idle: "fell silent in the middle of its answer",
  total: "took longer than one attempt may",
};

export function timedOut(wait: WaitName, limitMs: number): Failure {
  return sendFailure(
    "upstream_timeout",
    `The upstream ${waitTexts[wait]} (${wait} timeout, ${Math.round(limitMs)} ms).`,
  );
}

/**
 * A kept connection that its upstream had closed while it was not used, which is seen only on writing to it. Nothing is
 * wrong with the deployment.
 */
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
      : "The upstream's address is one that is never sent to.";
  return unsentFailure(message, `${kind}_address`, new Error(`refused to send to ${hostname}`));
}

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

/**
 * Nothing of the request has left this machine when a connection fails with one of these, so another address may be tried. A failed
 * handshake (EPROTO) is as certain, but another address will not speak TLS either.
 */
const notConnectedCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
]);

/** OpenSSL's words for a certificate that does not hold. */
const certificatePattern = /CERT|LEAF_SIGNATURE|CRL_/;

export function neverConnected(thrown: unknown): boolean {
  return notConnectedCodes.has(codeOf(thrown));
}

/** The other side closed the connection or reset it, before the status line. */
export function closedEarly(thrown: unknown): boolean {
  return codeOf(thrown) === "ECONNRESET" || codeOf(thrown) === "EPIPE";
}

/** Before the status line. */
export function failedSend(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const message = "The upstream could not be reached.";
  if (neverConnected(thrown) || codeOf(thrown) === "EPROTO") return unsentFailure(message, "unreachable", thrown);
  // The request follows the handshake, and a certificate is judged within it.
  if (certificatePattern.test(codeOf(thrown))) return unsentFailure(message, "certificate", thrown);
  return sendFailure("upstream_unreachable", message, thrown, "unreachable");
}

/** After the status line. */
export function failedRead(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return sendFailure("upstream_truncated", "The upstream's answer broke off before its end.", thrown);
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || !("code" in thrown)) return "";
  return typeof thrown.code === "string" ? thrown.code : "";
}
