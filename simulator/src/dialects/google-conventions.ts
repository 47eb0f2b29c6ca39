import { type HeaderFacts, Refusal } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import type { HeaderRow } from "../outlet.ts";
import type { SimulatorRequest } from "../request.ts";

export function googleHeaders(_facts: HeaderFacts): HeaderRow[] {
  return [
    ["server-timing", "gfet4t7; dur=1"],
    ["vary", "Origin, X-Origin, Referer"],
    ["x-content-type-options", "nosniff"],
  ];
}

/** Google's error body. For a rate limit it contains the retry delay. */
export function googleError(refusal: Refusal, _requestId: string): string {
  return JSON.stringify(errorOf(refusal));
}

export function googleErrorEvent(_refusal: Refusal, requestId: string): DialectEvent {
  const unavailable = new Refusal(503, "The model is overloaded. Please try again later.");
  return { data: googleError(unavailable, requestId), tokens: 0, role: "error" };
}

/** Requires an API key, in the header or the query, or a token. */
export function requireGoogleKey(request: SimulatorRequest): void {
  const key = request.headers["x-goog-api-key"] ?? new URLSearchParams(request.query).get("key");
  if (key !== null && key !== "") return;
  if (isBearer(request)) return;
  const message = "Method doesn't allow unregistered callers (callers without established identity).";
  throw new Refusal(403, message);
}

/** Vertex accepts only tokens. */
export function requireBearer(request: SimulatorRequest): void {
  if (isBearer(request)) return;
  throw new Refusal(401, "Request is missing required authentication credential. Expected OAuth 2 access token.");
}

function isBearer({ headers }: SimulatorRequest): boolean {
  return /^bearer\s+\S/i.test(headers["authorization"] ?? "");
}

function errorOf({ status, message, code }: Refusal): unknown {
  const type = code ?? statuses[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1s" };
  return { error: { code: status, message, status: type, ...(status === 429 ? { details: [retry] } : {}) } };
}

const statuses: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
