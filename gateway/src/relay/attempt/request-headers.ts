import type { HeaderReader, Provider } from "#core/index.ts";
import type { Tracing } from "#ports/index.ts";
import { isVendorVersion, isVersionDate } from "#protocols/index.ts";
import { callerHeaders, isKeptBack, sendsOwnTrace } from "#providers/index.ts";
import type { Call } from "../call.ts";

/** The caller's headers that this account gets: what its kind and its settings list, and nothing else. */
export function forwardedHeaders(headers: HeaderReader, provider: Provider): Record<string, string> {
  const list = callerHeaders(provider);
  const out: Record<string, string> = {};
  let connection: string | null = null;
  headers.forEach((value, name) => {
    if (list.takes(name)) out[name] = value;
    else if (name === "connection") connection = value;
  });
  return withoutOwned(out, connection);
}

/** RFC 9110, 7.6.1: what `Connection` names belongs to the caller's connection to us. */
function withoutOwned(out: Record<string, string>, connection: string | null): Record<string, string> {
  if (connection === null || connection.length <= "keep-alive".length) return out;
  for (const name of connection.split(",")) delete out[name.trim().toLowerCase()];
  return out;
}

/**
 * Versions of vendors' APIs that a caller of Messages names, beside Anthropic's own, which is its dialect's: they go to
 * whoever serves the call, as they are.
 */
export function addVendorVersions(
  out: Record<string, string>,
  { headers, protocol }: Pick<Call, "headers" | "protocol">,
): void {
  if (protocol.wireDialect !== "anthropic-messages") return;
  for (const [name, value] of headers) {
    if (name === "anthropic-version" || !isVendorVersion(name) || !isVersionDate(value)) continue;
    if (!isKeptBack(name)) out[name] = value;
  }
}

/** What means the same to every vendor: for a call that goes on in another dialect. */
export function neutralHeaders(headers: HeaderReader): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of neutral) {
    const value = headers.get(name);
    if (value !== null) out[name] = value;
  }
  return withoutOwned(out, headers.get("connection"));
}

/**
 * Where the caller's trace goes on to this account, the account sees the attempt as the span above it. A trace of our own goes only to
 * accounts whose settings name `traceparent`: it tells that two calls belong together.
 */
export function continueTrace(
  headers: Record<string, string>,
  tracing: TracedAttempt["tracing"],
  attempt: TracedAttempt["ids"],
): void {
  if (tracing === undefined) return;
  if (headers["traceparent"] === undefined && !sendsOwnTrace(attempt.provider)) return;
  const said = tracing.outbound(attempt.requestId, attempt.attemptId);
  if (said === null) return;
  headers["traceparent"] = said.traceparent;
  if (said.tracestate === null) delete headers["tracestate"];
  else if (headers["tracestate"] !== undefined) headers["tracestate"] = said.tracestate;
}

interface TracedAttempt {
  readonly tracing: Pick<Tracing, "outbound"> | undefined;
  readonly ids: { readonly requestId: string; readonly attemptId: string; readonly provider: Provider };
}

const neutral = ["idempotency-key", "traceparent", "tracestate", "x-client-request-id"] as const;
