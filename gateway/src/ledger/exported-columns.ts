import { usageTable } from "@sluice/contract/words";
import type { LedgerEntry } from "#core/index.ts";

export type ExportedValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>> | null;

/**
 * An entry as the outside sees it: each column and where it comes from, in the order of the export. Times are Unix
 * milliseconds, durations milliseconds.
 */
const columns: Readonly<Record<string, (entry: LedgerEntry) => ExportedValue>> = {
  attempt_id: (e) => e.attemptId,
  request_id: (e) => e.requestId,
  at: (e) => e.at,
  ended_at: (e) => e.endedAt,
  workspace_id: (e) => e.workspaceId,
  group_id: (e) => e.groupId,
  key_id: (e) => e.keyId,
  model: (e) => e.model,
  requested_model: (e) => e.requestedModel,
  provider: (e) => e.provider,
  deployment: (e) => e.deployment,
  upstream_model: (e) => e.upstreamModel,
  endpoint: (e) => e.endpoint,
  caller_dialect: (e) => e.callerDialect,
  upstream_dialect: (e) => e.upstreamDialect,
  stream: (e) => e.stream,
  retry_index: (e) => e.retryIndex,
  outcome: (e) => e.outcome,
  http_status: (e) => e.httpStatus,
  error_code: (e) => e.errorCode,
  ...Object.fromEntries(
    usageTable.map(({ name, column }) => [column, (e: LedgerEntry): ExportedValue => e.usage[name]]),
  ),
  usage_source: (e) => e.usageSource,
  cost_nano_usd: (e) => e.costNanoUsd,
  price_version: (e) => e.priceVersion,
  reserved_nano_usd: (e) => e.reservedNanoUsd,
  input_estimate: (e) => e.inputEstimate,
  total_ms: (e) => e.totalMs,
  first_byte_ms: (e) => e.firstByteMs,
  first_token_ms: (e) => e.firstTokenMs,
  upstream_ms: (e) => e.upstreamMs,
  overhead_ms: (e) => e.overheadMs,
  upstream_id: (e) => e.upstreamId,
  calls: (e) => e.calls ?? 1,
  upstream_status: (e) => e.upstreamStatus,
  started_after_ms: (e) => e.startedAfterMs,
  warnings: (e) => e.warnings ?? null,
  operation: (e) => e.operation ?? null,
  call_first_byte_ms: (e) => sinceArrival(e, e.firstByteMs),
  call_first_token_ms: (e) => sinceArrival(e, e.firstTokenMs),
  call_total_ms: (e) => sinceArrival(e, e.totalMs),
  tags: (e) => e.tags,
  user_agent: (e) => e.userAgent,
  raw_usage: (e) => e.rawUsage,
};

/** How long the caller of the whole call had waited then. */
function sinceArrival({ startedAfterMs }: LedgerEntry, ms: number | null): number | null {
  return startedAfterMs === null || ms === null ? null : startedAfterMs + ms;
}

export const exportedColumns: readonly string[] = Object.keys(columns);

const readers = Object.values(columns);

export function exportedValues(entry: LedgerEntry): readonly ExportedValue[] {
  return readers.map((read) => read(entry));
}

export function exportedRow(entry: LedgerEntry): Readonly<Record<string, ExportedValue>> {
  return Object.fromEntries(exportedColumns.map((column, index) => [column, readers[index]?.(entry) ?? null]));
}
