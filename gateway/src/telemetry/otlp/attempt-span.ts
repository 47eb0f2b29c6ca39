import { type LedgerEntry, nanoToUsd, type Principal } from "#core/index.ts";
import { maskText } from "../redacted.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import type { Attributes } from "./sdk-types.ts";
import type { SharedAttributesCache } from "./shared-attributes.ts";
import { noLinks, type SpanFields, spanKinds } from "./span.ts";
import { taskSpanId, taskTrace } from "./task-trace.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanIdFrom } from "./trace-ids.ts";

/** The upstream account of an attempt, as the catalog knows it. */
export interface UpstreamFacts {
  readonly kind: string;
  readonly host: string;
  readonly port: number;
}

export interface AttemptSpanOptions {
  readonly cache: SharedAttributesCache;
  /** null: it is not there any more. */
  readonly upstream: UpstreamFacts | null;
  readonly principal: Principal | null;
  readonly oldNames: boolean;
  readonly costNames: boolean;
}

/** The CLIENT span of an attempt, from its entry in the ledger: names by OpenTelemetry's GenAI conventions. */
export function attemptSpan(entry: LedgerEntry, trace: TraceContext, options: AttemptSpanOptions): SpanFields {
  const { requestId, attemptId } = entry;
  return spanOf(entry, options, {
    trace,
    spanId: spanIdFrom(attemptId),
    parentSpanId: spanIdFrom(requestId),
    links: noLinks,
  });
}

/** That of a video task, in a trace of its own. `begun`: the trace of the call that began it; null: not known here. */
export function taskSpan(entry: LedgerEntry, begun: TraceContext | null, options: AttemptSpanOptions): SpanFields {
  const { requestId } = entry;
  return spanOf(entry, options, {
    trace: taskTrace(requestId),
    spanId: taskSpanId(requestId),
    parentSpanId: null,
    links: begun === null ? noLinks : [{ trace: begun, spanId: spanIdFrom(requestId) }],
  });
}

function spanOf(
  entry: LedgerEntry,
  options: AttemptSpanOptions,
  place: Pick<SpanFields, "trace" | "spanId" | "parentSpanId" | "links">,
): SpanFields {
  const { outcome, provider, deployment, model, endpoint, stream, errorCode, keyId } = entry;
  const errorType = errorTypeOf(entry);
  const asked = entry.upstreamModel === "" ? model : entry.upstreamModel;
  const operation = operationOf(endpoint);
  const key = `${keyId}\n${deployment}\n${provider}\n${model}\n${asked}\n${endpoint}\n${stream}\n${outcome}\n${errorCode}\n${entry.usageSource}\n${entry.upstreamStatus}\n${entry.priceVersion}\n${entry.workspaceId}`;
  return {
    name: `${operation} ${asked}`,
    kind: spanKinds.client,
    ...place,
    parentIsRemote: false,
    startMs: entry.at,
    endMs: entry.at + entry.totalMs,
    shared: options.cache.get(key, options.upstream, options.principal, () =>
      sharedAttributes(entry, asked, operation, errorType, options),
    ),
    own: ownAttributes(entry, options),
    // A caller who went away is no failure of the upstream.
    failed: outcome === "failed" || outcome === "interrupted" ? errorType : null,
  };
}

function sharedAttributes(
  entry: LedgerEntry,
  model: string,
  operation: string,
  errorType: string | null,
  { upstream, principal, oldNames }: AttemptSpanOptions,
): Attributes {
  const provider = providerNameOf(upstream?.kind ?? entry.provider);
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
    ...(oldNames ? { "gen_ai.system": provider } : {}),
    "gen_ai.request.model": model,
    ...(entry.stream ? { "gen_ai.request.stream": true } : {}),
    ...(upstream === null || upstream.host === ""
      ? {}
      : { "server.address": upstream.host, "server.port": upstream.port }),
    ...(entry.upstreamStatus === null ? {} : { "http.response.status_code": entry.upstreamStatus }),
    "sluice.endpoint": entry.endpoint,
    "sluice.model": entry.model,
    "sluice.provider": entry.provider,
    "sluice.deployment": entry.deployment,
    "sluice.outcome": entry.outcome,
    "sluice.usage.source": entry.usageSource,
    ...(entry.priceVersion === null ? {} : { "sluice.price.version": entry.priceVersion }),
    "sluice.workspace.id": entry.workspaceId,
    "sluice.key.id": entry.keyId,
    ...(principal === null
      ? {}
      : { "sluice.workspace": principal.workspace.slug, "sluice.key.name": principal.key.name }),
    ...(errorType === null ? {} : { "error.type": errorType }),
  };
}

function ownAttributes(entry: LedgerEntry, options: AttemptSpanOptions): Attributes {
  const out: Attributes = { "sluice.request.id": entry.requestId, "sluice.attempt.id": entry.attemptId };
  if (entry.retryIndex > 0) out["sluice.retry"] = entry.retryIndex;
  if (entry.upstreamId !== null) out["gen_ai.response.id"] = entry.upstreamId;
  const firstMs = entry.stream ? (entry.firstTokenMs ?? entry.firstByteMs) : null;
  if (firstMs !== null) out["gen_ai.response.time_to_first_chunk"] = firstMs / 1_000;
  if (entry.usageSource !== "none") addUsage(out, entry, options);
  if (entry.priceVersion !== null) addCost(out, entry, options);
  for (const name in entry.tags) out[`sluice.tag.${name}`] = maskText(entry.tags[name] ?? "");
  return out;
}

function addUsage(out: Attributes, { usage }: LedgerEntry, { oldNames }: AttemptSpanOptions): void {
  const { input, output } = tokenCounts(usage);
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  out["gen_ai.usage.input_tokens"] = input;
  out["gen_ai.usage.output_tokens"] = output;
  if (usage.cacheRead > 0) out["gen_ai.usage.cache_read.input_tokens"] = usage.cacheRead;
  if (cacheWrite > 0) {
    out["gen_ai.usage.cache_write.input_tokens"] = cacheWrite;
    if (oldNames) out["gen_ai.usage.cache_creation.input_tokens"] = cacheWrite;
  }
  if (usage.reasoning > 0) out["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning;
  if (usage.audioInput > 0) out["gen_ai.usage.audio.input_tokens"] = usage.audioInput;
  if (usage.audioOutput > 0) out["gen_ai.usage.audio.output_tokens"] = usage.audioOutput;
  if (usage.imageInput > 0) out["gen_ai.usage.image.input_tokens"] = usage.imageInput;
  if (usage.imageOutput > 0) out["gen_ai.usage.image.output_tokens"] = usage.imageOutput;
  if (usage.images > 0) out["sluice.usage.images"] = usage.images;
  if (usage.videoSeconds > 0) out["sluice.usage.video_seconds"] = usage.videoSeconds;
  if (usage.webSearches > 0) out["sluice.usage.web_searches"] = usage.webSearches;
}

/** Whole billionths of a dollar are what the ledger adds up; dollars are for people. */
function addCost(out: Attributes, { costNanoUsd }: LedgerEntry, { costNames }: AttemptSpanOptions): void {
  const usd = nanoToUsd(costNanoUsd);
  out["sluice.cost.nano_usd"] = costNanoUsd;
  out["sluice.cost.usd"] = usd;
  if (!costNames) return;
  out["gen_ai.usage.cost.amount"] = usd;
  out["gen_ai.usage.cost.currency"] = "USD";
  out["gen_ai.usage.cost.source"] = "local";
}
