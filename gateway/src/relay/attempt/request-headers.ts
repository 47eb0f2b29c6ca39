import type { HeaderReader, Provider } from "#core/index.ts";
import { isVendorVersion, isVersionDate } from "#protocols/index.ts";
import { callerHeaders, isKeptBack } from "#providers/index.ts";
import type { Call } from "../call.ts";

/** The caller's headers that this account gets: what its kind and its settings list, and nothing else. */
export function forwardedHeaders(headers: HeaderReader, provider: Provider): Record<string, string> {
  const list = callerHeaders(provider);
  const out: Record<string, string> = {};
  for (const [name, value] of headers) if (list.takes(name)) out[name] = value;
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
  return out;
}

const neutral = ["idempotency-key", "traceparent", "tracestate", "x-client-request-id"] as const;
