import type { RequestRow } from "@sluice/contract";
import {
  type ConfigSnapshot,
  inputTokensOf,
  type LedgerEntry,
  nanoToUsd,
  noUsage,
  outputTokensOf,
} from "#core/index.ts";

/** An entry as lists of requests show it; its key and its person have no name yet. */
export function rowOf(entry: LedgerEntry, configSnapshot: ConfigSnapshot): RequestRow {
  const isPending = entry.outcome === "pending";
  // What a pending one is expected to use is not what it used.
  const usage = isPending ? noUsage : entry.usage;
  return {
    attempt_id: entry.attemptId,
    request_id: entry.requestId,
    at: entry.at,
    workspace: { id: entry.workspaceId, slug: configSnapshot.workspaces.get(entry.workspaceId)?.slug ?? "" },
    key: { id: entry.keyId, name: "" },
    group: { id: entry.groupId, name: configSnapshot.groups.get(entry.groupId)?.name ?? "" },
    person: entry.personId === undefined ? null : { id: entry.personId, email: "", name: "" },
    model: entry.model,
    requested_model: entry.requestedModel,
    provider: entry.provider,
    endpoint: entry.endpoint,
    operation: entry.operation ?? null,
    stream: entry.stream,
    calls: entry.calls ?? 1,
    retry_index: entry.retryIndex,
    outcome: entry.outcome,
    http_status: entry.httpStatus,
    error_code: entry.errorCode,
    input_tokens: inputTokensOf(usage),
    output_tokens: outputTokensOf(usage),
    cost_usd: nanoToUsd(entry.costNanoUsd),
    held_usd: isPending ? nanoToUsd(entry.reservedNanoUsd) : null,
    total_ms: entry.totalMs,
    first_token_ms: entry.firstTokenMs,
  };
}
