import { type UsageColumnName, usageTable } from "@sluice/contract/words";
import {
  type DialectId,
  type EndpointId,
  type LedgerEntry,
  noUsage,
  type Outcome,
  type Usage,
  type UsageSource,
} from "#core/index.ts";
import type { Row } from "../database/schema.ts";

type LedgerRow = Row<"ledger_entries">;

/** How each column of `ledger_entries` comes from an entry: the one list both directions and every statement use. */
const readers: { readonly [Column in keyof LedgerRow]: (entry: LedgerEntry) => LedgerRow[Column] } = {
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
  stream: (e) => (e.stream ? 1 : 0),
  retry_index: (e) => e.retryIndex,
  price_version: (e) => e.priceVersion,
  input_estimate: (e) => e.inputEstimate,
  reserved_nano_usd: (e) => e.reservedNanoUsd,
  user_agent: (e) => e.userAgent,
  tags: (e) => tagsText(e.tags),
  outcome: (e) => e.outcome,
  http_status: (e) => e.httpStatus,
  error_code: (e) => e.errorCode,
  ...usageReaders(),
  usage_source: (e) => e.usageSource,
  raw_usage: (e) => e.rawUsage,
  cost_nano_usd: (e) => e.costNanoUsd,
  total_ms: (e) => e.totalMs,
  first_byte_ms: (e) => e.firstByteMs,
  first_token_ms: (e) => e.firstTokenMs,
  upstream_ms: (e) => e.upstreamMs,
  overhead_ms: (e) => e.overheadMs,
  upstream_id: (e) => e.upstreamId,
  calls: (e) => e.calls ?? 1,
  started_after_ms: (e) => e.startedAfterMs,
  upstream_status: (e) => e.upstreamStatus,
  warnings: (e) => (e.warnings === undefined ? null : JSON.stringify(e.warnings)),
  operation: (e) => e.operation ?? null,
};

export const ledgerColumns = Object.keys(readers) as readonly (keyof LedgerRow)[];

const valueReaders = Object.values(readers);

/** Appends the entry's values in the order of `ledgerColumns`. */
export function bindEntry(entry: LedgerEntry, into: unknown[]): void {
  for (const read of valueReaders) into.push(read(entry));
}

export function entryOf(row: LedgerRow): LedgerEntry {
  return {
    attemptId: row.attempt_id,
    requestId: row.request_id,
    at: row.at,
    endedAt: row.ended_at,
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    keyId: row.key_id,
    model: row.model,
    requestedModel: row.requested_model,
    provider: row.provider,
    deployment: row.deployment,
    upstreamModel: row.upstream_model,
    endpoint: row.endpoint as EndpointId,
    callerDialect: row.caller_dialect as DialectId,
    upstreamDialect: row.upstream_dialect as DialectId,
    stream: row.stream === 1,
    retryIndex: row.retry_index,
    priceVersion: row.price_version,
    inputEstimate: row.input_estimate,
    reservedNanoUsd: row.reserved_nano_usd,
    userAgent: row.user_agent,
    tags: row.tags === noTags ? {} : JSON.parse(row.tags),
    outcome: row.outcome as Outcome,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    usage: usageOf(row),
    usageSource: row.usage_source as UsageSource,
    rawUsage: row.raw_usage,
    costNanoUsd: row.cost_nano_usd,
    totalMs: row.total_ms,
    firstByteMs: row.first_byte_ms,
    firstTokenMs: row.first_token_ms,
    upstreamMs: row.upstream_ms,
    overheadMs: row.overhead_ms,
    upstreamId: row.upstream_id,
    ...(row.calls === 1 ? {} : { calls: row.calls }),
    startedAfterMs: row.started_after_ms,
    upstreamStatus: row.upstream_status,
    ...(row.warnings === null ? {} : { warnings: JSON.parse(row.warnings) }),
    ...(row.operation === null ? {} : { operation: row.operation }),
  };
}

/** The column each class of usage lives in, in ledger and rollups alike. */
export const usageColumnOf = Object.fromEntries(usageTable.map(({ name, column }) => [name, column])) as {
  readonly [Row in (typeof usageTable)[number] as Row["name"]]: Row["column"];
};

export type UsageColumn = UsageColumnName;

export const usageColumns: readonly UsageColumn[] = usageTable.map(({ column }) => column);

export function usageOf(row: Pick<LedgerRow, UsageColumn>): Usage {
  const usage: { -readonly [Class in keyof Usage]: number } = { ...noUsage };
  for (const { name, column } of usageTable) usage[name] = row[column];
  return usage;
}

function usageReaders() {
  const entries = usageTable.map(({ name, column }) => [column, (e: LedgerEntry): number => e.usage[name]]);
  return Object.fromEntries(entries) as Record<UsageColumn, (entry: LedgerEntry) => number>;
}

const noTags = "{}";

function tagsText(tags: LedgerEntry["tags"]): string {
  for (const _ in tags) return JSON.stringify(tags);
  return noTags;
}
