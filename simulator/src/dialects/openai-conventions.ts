import type { HeaderFacts, Refusal } from "../dialect.ts";
import type { HeaderRow } from "../outlet.ts";

/** Headers of every OpenAI answer. The account's limits are fixed numbers and are not enforced. */
export function openAiHeaders({ requestId, parsed }: HeaderFacts): HeaderRow[] {
  const rows: HeaderRow[] = [["x-request-id", requestId], ...accountHeaders];
  const model = parsed?.model ?? null;
  if (model !== null && /^[\x20-\x7e]*$/.test(model)) rows.push(["openai-model", model]);
  return rows;
}

const accountHeaders: readonly HeaderRow[] = [
  ["openai-organization", "org-sluice-simulator"],
  ["openai-processing-ms", "1"],
  ["openai-version", "2020-10-01"],
  ["x-ratelimit-limit-requests", "10000"],
  ["x-ratelimit-limit-tokens", "30000000"],
  ["x-ratelimit-remaining-requests", "9999"],
  ["x-ratelimit-remaining-tokens", "29999000"],
  ["x-ratelimit-reset-requests", "6ms"],
  ["x-ratelimit-reset-tokens", "2ms"],
];

/** OpenAI's error body with four fields, and the default type and code of the status. */
export function openAiError(refusal: Refusal, _requestId: string): string {
  const fallback = defaultErrors[refusal.status] ?? { type: "server_error", code: null };
  const code = refusal.code === undefined ? fallback.code : refusal.code;
  return JSON.stringify({ error: { message: refusal.message, type: fallback.type, param: refusal.param, code } });
}

const invalid = { type: "invalid_request_error", code: null };

const defaultErrors: Readonly<Record<number, { readonly type: string; readonly code: string | null }>> = {
  400: invalid,
  401: { type: "invalid_request_error", code: "invalid_api_key" },
  403: invalid,
  404: { type: "invalid_request_error", code: "model_not_found" },
  409: invalid,
  413: invalid,
  415: invalid,
  422: invalid,
  429: { type: "requests", code: "rate_limit_exceeded" },
  503: { type: "service_unavailable_error", code: null },
};
