import type { DialectId, EndpointId, LedgerEntry, Outcome, Usage, UsageSource } from "#core/index.ts";
import type { Row } from "./schema.ts";

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
  input_uncached: (e) => e.usage.inputUncached,
  cache_read: (e) => e.usage.cacheRead,
  cache_write_5m: (e) => e.usage.cacheWrite5m,
  cache_write_1h: (e) => e.usage.cacheWrite1h,
  output: (e) => e.usage.output,
  reasoning: (e) => e.usage.reasoning,
  audio_input: (e) => e.usage.audioInput,
  audio_output: (e) => e.usage.audioOutput,
  image_input: (e) => e.usage.imageInput,
  image_output: (e) => e.usage.imageOutput,
  images: (e) => e.usage.images,
  video_seconds: (e) => e.usage.videoSeconds,
  web_searches: (e) => e.usage.webSearches,
  file_searches: (e) => e.usage.fileSearches,
  code_sessions: (e) => e.usage.codeSessions,
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
  };
}

/** The column each class of usage lives in, in ledger and rollups alike. */
export const usageColumnOf = {
  inputUncached: "input_uncached",
  cacheRead: "cache_read",
  cacheWrite5m: "cache_write_5m",
  cacheWrite1h: "cache_write_1h",
  output: "output",
  reasoning: "reasoning",
  audioInput: "audio_input",
  audioOutput: "audio_output",
  imageInput: "image_input",
  imageOutput: "image_output",
  images: "images",
  videoSeconds: "video_seconds",
  webSearches: "web_searches",
  fileSearches: "file_searches",
  codeSessions: "code_sessions",
} as const satisfies { readonly [Class in keyof Usage]: keyof LedgerRow };

export type UsageColumn = (typeof usageColumnOf)[keyof Usage];

export function usageOf(row: Pick<LedgerRow, UsageColumn>): Usage {
  return {
    inputUncached: row.input_uncached,
    cacheRead: row.cache_read,
    cacheWrite5m: row.cache_write_5m,
    cacheWrite1h: row.cache_write_1h,
    output: row.output,
    reasoning: row.reasoning,
    audioInput: row.audio_input,
    audioOutput: row.audio_output,
    imageInput: row.image_input,
    imageOutput: row.image_output,
    images: row.images,
    videoSeconds: row.video_seconds,
    webSearches: row.web_searches,
    fileSearches: row.file_searches,
    codeSessions: row.code_sessions,
  };
}

const noTags = "{}";

function tagsText(tags: LedgerEntry["tags"]): string {
  for (const _ in tags) return JSON.stringify(tags);
  return noTags;
}
