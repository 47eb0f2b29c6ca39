import { createHash } from "node:crypto";
import type { HeaderReader, Provider } from "#core/index.ts";
import type { Tracing } from "#ports/index.ts";
import { isVendorVersion, isVersionDate } from "#protocols/index.ts";
import { callerHeaders, isKeptBack, sendsOwnTrace } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { AttemptParts } from "./call-tally.ts";

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

/** Versions of other vendors' APIs that a caller of Messages names. */
export function addVendorVersions(out: Record<string, string>, { headers, protocol }: Call): void {
  if (protocol.wireDialect !== "anthropic-messages") return;
  for (const [name, value] of headers) {
    if (name === "anthropic-version" || !isVendorVersion(name) || !isVersionDate(value)) continue;
    if (!isKeptBack(name)) out[name] = value;
  }
}

/** Headers that mean the same to every vendor, for a translated call. */
export function neutralHeaders(headers: HeaderReader): Record<string, string> {
  const out: Record<string, string> = {};
  copyHeaders(out, headers, neutral);
  return withoutOwned(out, headers.get("connection"));
}

export function copyHeaders(out: Record<string, string>, from: HeaderReader, names: readonly string[]): void {
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) out[name] = value;
  }
}

const neutral = ["idempotency-key", "traceparent", "tracestate", "x-client-request-id"] as const;

export function addAttemptHeaders(
  headers: Record<string, string>,
  { dependencies, call, selection }: Pick<AttemptParts, "dependencies" | "call" | "selection">,
  attemptId: string,
): void {
  const { provider, upstreamModel } = selection.deployment;
  ownIdempotencyKeys(headers, call.principal.workspace.id, upstreamModel);
  continueTrace(headers, dependencies.tracing, { requestId: call.requestId, attemptId, provider });
  headers["x-attempt-id"] = attemptId;
  headers["user-agent"] ??= "sluice";
}

/**
 * The parent span at the account is the attempt. A trace of our own goes only to accounts whose settings name `traceparent`: it shows
 * that two calls belong together.
 */
export function continueTrace(
  headers: Record<string, string>,
  tracing: Pick<Tracing, "outbound"> | undefined,
  attempt: { readonly requestId: string; readonly attemptId: string; readonly provider: Provider },
): void {
  if (tracing === undefined) return;
  if (headers["traceparent"] === undefined && !sendsOwnTrace(attempt.provider)) return;
  const trace = tracing.outbound(attempt.requestId, attempt.attemptId);
  if (trace === null) return;
  headers["traceparent"] = trace.traceparent;
  if (trace.tracestate === null) delete headers["tracestate"];
  else if (headers["tracestate"] !== undefined) headers["tracestate"] = trace.tracestate;
}

/**
 * Replaces a caller's `idempotency-key` by one of its workspace and model. Vendors repeat the first answer for a key, so tenants of
 * one account would get each other's answers, and they refuse another request under a known key. The form is a UUID (RFC 9562,
 * version 8), which every vendor takes.
 */
export function ownIdempotencyKeys(headers: Record<string, string>, workspaceId: string, upstreamModel: string): void {
  for (const name of idempotencyKeys) {
    const key = headers[name];
    if (key === undefined) continue;
    if (key === "") delete headers[name];
    else headers[name] = ownKey(JSON.stringify([workspaceId, upstreamModel, key]));
  }
}

/** The second where an operator lists it. */
const idempotencyKeys = ["idempotency-key", "x-idempotency-key"] as const;

function ownKey(text: string): string {
  const bytes = createHash("sha256").update(text).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex", 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
