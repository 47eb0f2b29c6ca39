import { type HeaderFacts, Refusal } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import type { HeaderRow } from "../outlet.ts";

/** Headers of every Anthropic answer. The account's limits are fixed numbers and are not enforced. */
export function anthropicHeaders({ requestId }: HeaderFacts): HeaderRow[] {
  return [["request-id", requestId], ...accountHeaders];
}

const reset = "2030-01-01T00:00:00Z";

const accountHeaders: readonly HeaderRow[] = [
  ["anthropic-organization-id", "5100ce00-0000-4000-8000-000000000000"],
  ["anthropic-ratelimit-requests-limit", "4000"],
  ["anthropic-ratelimit-requests-remaining", "3999"],
  ["anthropic-ratelimit-requests-reset", reset],
  ["anthropic-ratelimit-tokens-limit", "480000"],
  ["anthropic-ratelimit-tokens-remaining", "479000"],
  ["anthropic-ratelimit-tokens-reset", reset],
  ["anthropic-ratelimit-input-tokens-limit", "400000"],
  ["anthropic-ratelimit-input-tokens-remaining", "399000"],
  ["anthropic-ratelimit-input-tokens-reset", reset],
  ["anthropic-ratelimit-output-tokens-limit", "80000"],
  ["anthropic-ratelimit-output-tokens-remaining", "80000"],
  ["anthropic-ratelimit-output-tokens-reset", reset],
];

export function requireAnthropicKey(headers: Readonly<Record<string, string>>): void {
  const bearer = /^bearer\s+\S/i.test(headers["authorization"] ?? "");
  if ((headers["x-api-key"] ?? "") === "" && !bearer) throw new Refusal(401, "x-api-key header is required");
}

export function anthropicError(refusal: Refusal, requestId: string): string {
  const type =
    refusal.code ?? errorTypes[refusal.status] ?? (refusal.status < 500 ? "invalid_request_error" : "api_error");
  const details = refusal.details === null ? {} : { details: refusal.details };
  return JSON.stringify({
    type: "error",
    error: { type, message: refusal.message, ...details },
    request_id: requestId,
  });
}

export function anthropicErrorEvent(_refusal: Refusal, requestId: string): DialectEvent {
  const overloaded = new Refusal(529, "Overloaded");
  return { event: "error", data: anthropicError(overloaded, requestId), tokens: 0, role: "error" };
}

const errorTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};
