import type { AttemptDetail, Explanation, RequestDetail } from "@sluice/contract";
import { sampleRow } from "../sample-row.ts";

/** A successful attempt, for tests. */
export function sampleAttempt(more: Partial<AttemptDetail> = {}): AttemptDetail {
  return {
    ...sampleRow({ total_ms: 2_300, first_token_ms: 400, stream: true, cost_usd: 0.0042, started_after_ms: 0.4 }),
    ended_at: 3_300,
    deployment: "gpt-test@main/gpt-up",
    upstream_model: "gpt-up",
    caller_dialect: "openai-chat",
    upstream_dialect: "openai-chat",
    usage: { input_uncached: 1_000, cache_read: 234, output: 56, reasoning: 6 },
    usage_source: "upstream",
    raw_usage: null,
    price_version: "prc_1",
    cost_lines: [
      { class: "input_uncached", units: 1_000, unit_usd: 0.000003, usd: 0.003 },
      { class: "cache_read", units: 234, unit_usd: 0, usd: 0 },
      { class: "output", units: 56, unit_usd: 0.00002142857, usd: 0.0012 },
    ],
    cost_source: "price",
    vendor_cost_usd: null,
    own_cost_usd: null,
    cache_saved_usd: null,
    served: null,
    served_model: null,
    unpriced: [],
    reserved_usd: 0,
    upstream_ms: 2_290,
    first_byte_ms: 300,
    overhead_ms: 0.8,
    upstream_status: 200,
    warnings: [],
    upstream_id: null,
    session_source: null,
    ...more,
  };
}

export function sampleRequest(
  attempts: readonly AttemptDetail[],
  explanation: Partial<Explanation> | null = null,
): RequestDetail {
  return {
    request_id: "req_1",
    at: attempts[0]?.at ?? 0,
    workspace: { id: "ws_1", slug: "acme" },
    key: { id: "key_1", name: "ci" },
    attempts: [...attempts],
    explanation:
      explanation === null ? null : { plan: [], refusal: null, failures: [], walk: [], steps: [], ...explanation },
    counted_in: null,
    checks: [],
    capture: null,
  };
}

export function samplePlace(
  deployment: string,
  note: string | null,
  reasons: Explanation["plan"][number]["reasons"] = [],
): Explanation["plan"][number] {
  return {
    deployment,
    provider: deployment,
    model: "gpt-test",
    upstream_model: "gpt-up",
    priority: 0,
    weight: 1,
    note,
    reasons,
  };
}
