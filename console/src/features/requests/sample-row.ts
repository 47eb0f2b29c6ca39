import type { RequestRow } from "@sluice/contract";

/** A successful request, for tests. */
export function sampleRow(more: Partial<RequestRow> = {}): RequestRow {
  return {
    attempt_id: "att_1",
    request_id: "req_1",
    at: 1_000,
    workspace: { id: "ws_1", slug: "acme" },
    key: { id: "key_1", name: "ci" },
    group: { id: "grp_1", name: "default" },
    person: null,
    actor: null,
    model: "gpt-test",
    requested_model: "gpt-test",
    provider: "main",
    endpoint: "chat",
    operation: null,
    stream: false,
    calls: 1,
    retry_index: 0,
    outcome: "succeeded",
    http_status: 200,
    error_code: null,
    input_tokens: 10,
    output_tokens: 5,
    cost_usd: 0.001,
    held_usd: null,
    total_ms: 250,
    first_token_ms: null,
    started_after_ms: 0,
    user_agent: "curl/8",
    tags: {},
    session: null,
    batch_id: null,
    custom_id: null,
    ...more,
  };
}
