import { type LedgerEntry, nanoToUsd, type Principal } from "#core/index.ts";
import { maskText } from "../redacted.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import type { Attributes, Origin, SdkSpan } from "./sdk-types.ts";
import { linkTo, spanKinds, spanOf } from "./span.ts";
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
  readonly origin: Origin;
  /** null: it is not there any more. */
  readonly upstream: UpstreamFacts | null;
  readonly principal: Principal | null;
  readonly oldNames: boolean;
  readonly costNames: boolean;
}

/** The CLIENT span of an attempt, from its entry in the ledger: names by OpenTelemetry's GenAI conventions. */
export function attemptSpan(entry: LedgerEntry, trace: TraceContext, options: AttemptSpanOptions): SdkSpan {
  return spanOf(options.origin, {
    ...spanFields(entry, options),
    trace,
    spanId: spanIdFrom(entry.attemptId),
    parentSpanId: spanIdFrom(entry.requestId),
    parentIsRemote: false,
    links: noLinks,
  });
}

/** That of a video task, in a trace of its own. `origin`: the trace of the call that began it; null: not known here. */
export function taskSpan(entry: LedgerEntry, begun: TraceContext | null, options: AttemptSpanOptions): SdkSpan {
  return spanOf(options.origin, {
    ...spanFields(entry, options),
    trace: taskTrace(entry.requestId),
    spanId: taskSpanId(entry.requestId),
    parentSpanId: null,
    parentIsRemote: false,
    links: begun === null ? noLinks : [linkTo(begun, spanIdFrom(entry.requestId))],
  });
}

const noLinks: SdkSpan["links"] = [];

function spanFields(entry: LedgerEntry, options: AttemptSpanOptions) {
  const errorType = errorTypeOf(entry);
  const model = entry.upstreamModel === "" ? entry.model : entry.upstreamModel;
  const operation = operationOf(entry.endpoint);
  return {
    name: `${operation} ${model}`,
    kind: spanKinds.client,
    startMs: entry.at,
    endMs: entry.at + entry.totalMs,
    attributes: {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": providerNameOf(options.upstream?.kind ?? entry.provider),
      "gen_ai.request.model": model,
      ...upstreamAttributes(entry, options),
      ...usageAttributes(entry, options),
      ...costAttributes(entry, options),
      ...ownAttributes(entry, options.principal),
      ...(errorType === null ? {} : { "error.type": errorType }),
    },
    // A caller who went away is no failure of the upstream.
    failed: entry.outcome === "failed" || entry.outcome === "interrupted" ? errorType : null,
  } as const;
}

function upstreamAttributes(entry: LedgerEntry, { upstream, oldNames }: AttemptSpanOptions): Attributes {
  const out: Attributes = {};
  if (upstream !== null && upstream.host !== "") {
    out["server.address"] = upstream.host;
    out["server.port"] = upstream.port;
  }
  if (oldNames) out["gen_ai.system"] = providerNameOf(upstream?.kind ?? entry.provider);
  if (entry.stream) out["gen_ai.request.stream"] = true;
  if (entry.upstreamId !== null) out["gen_ai.response.id"] = entry.upstreamId;
  if (entry.upstreamStatus !== null) out["http.response.status_code"] = entry.upstreamStatus;
  const firstMs = entry.stream ? (entry.firstTokenMs ?? entry.firstByteMs) : null;
  if (firstMs !== null) out["gen_ai.response.time_to_first_chunk"] = firstMs / 1_000;
  // In the place of a reason that never came.
  if (entry.outcome === "interrupted") out["gen_ai.response.finish_reasons"] = ["error"];
  return out;
}

function usageAttributes(entry: LedgerEntry, { oldNames }: AttemptSpanOptions): Attributes {
  const { usage } = entry;
  const out: Attributes = { "sluice.usage.source": entry.usageSource };
  if (entry.usageSource === "none") return out;
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
  return out;
}

/** Whole billionths of a dollar are what the ledger adds up; dollars are for people. */
function costAttributes({ costNanoUsd, priceVersion }: LedgerEntry, { costNames }: AttemptSpanOptions): Attributes {
  if (priceVersion === null) return {};
  const usd = nanoToUsd(costNanoUsd);
  const out: Attributes = {
    "sluice.cost.nano_usd": costNanoUsd,
    "sluice.cost.usd": usd,
    "sluice.price.version": priceVersion,
  };
  if (!costNames) return out;
  out["gen_ai.usage.cost.amount"] = usd;
  out["gen_ai.usage.cost.currency"] = "USD";
  out["gen_ai.usage.cost.source"] = "local";
  return out;
}

function ownAttributes(entry: LedgerEntry, principal: Principal | null): Attributes {
  const out: Attributes = {
    "sluice.request.id": entry.requestId,
    "sluice.attempt.id": entry.attemptId,
    "sluice.endpoint": entry.endpoint,
    "sluice.model": entry.model,
    "sluice.provider": entry.provider,
    "sluice.deployment": entry.deployment,
    "sluice.outcome": entry.outcome,
    "sluice.workspace.id": entry.workspaceId,
    "sluice.key.id": entry.keyId,
  };
  if (entry.retryIndex > 0) out["sluice.retry"] = entry.retryIndex;
  if (principal !== null) {
    out["sluice.workspace"] = principal.workspace.slug;
    out["sluice.key.name"] = principal.key.name;
  }
  for (const [name, value] of Object.entries(entry.tags)) out[`sluice.tag.${name}`] = maskText(value);
  return out;
}
