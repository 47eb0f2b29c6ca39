import { type LedgerEntry, nanoToUsd, type Principal } from "#core/index.ts";
import type { ReadContent } from "../content/read-content.ts";
import { maskText } from "../redacted.ts";
import { type AttributeList, type Attributes, attributeName } from "./attribute-list.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import type { SharedFieldsCache } from "./shared-fields-cache.ts";
import { noLinks, SharedFields, type SpanFields, spanKinds } from "./span.ts";
import { type TraceContext, taskId, taskTrace } from "./trace-context.ts";

/** The upstream account of an attempt, as the config snapshot knows it. */
export interface UpstreamFacts {
  readonly kind: string;
  readonly host: string;
  readonly port: number;
}

export interface AttemptSpanOptions {
  readonly cache: SharedFieldsCache<AttemptSource>;
  /** Filled for each span. */
  readonly own: AttributeList;
  /** null: it is not there any more. */
  readonly upstream: UpstreamFacts | null;
  readonly principal: Principal | null;
  readonly oldNames: boolean;
  readonly costNames: boolean;
  /** What was said; null: it is not to be told. */
  readonly content: ReadContent | null;
  /** The sentence of its failure; null: nothing failed, or nobody knows more than `error.type`. */
  readonly message: string | null;
}

/** What the attributes that many spans have alike follow from. */
export interface AttemptSource extends Pick<AttemptSpanOptions, "upstream" | "principal" | "oldNames"> {
  readonly entry: LedgerEntry;
}

/** The CLIENT span of an attempt, from its entry in the ledger: names by OpenTelemetry's GenAI conventions. */
export function attemptSpan(entry: LedgerEntry, trace: TraceContext, options: AttemptSpanOptions): SpanFields {
  return spanOf(entry, options, { trace, of: entry.attemptId, below: entry.requestId, links: noLinks });
}

/** That of a video task, in a trace of its own. `begun`: the trace of the call that began it; null: not known here. */
export function taskSpan(entry: LedgerEntry, begun: TraceContext | null, options: AttemptSpanOptions): SpanFields {
  const { requestId } = entry;
  return spanOf(entry, options, {
    trace: taskTrace(requestId),
    of: taskId(requestId),
    below: null,
    links: begun === null ? noLinks : [{ trace: begun, of: requestId }],
  });
}

function spanOf(
  entry: LedgerEntry,
  options: AttemptSpanOptions,
  { trace, of, below, links }: Pick<SpanFields, "trace" | "of" | "below" | "links">,
): SpanFields {
  const { outcome, keyId } = entry;
  const { upstream, principal, oldNames } = options;
  const shared = options.cache.get(keyId, { entry, upstream, principal, oldNames });
  return {
    trace,
    of,
    below,
    parentSpanId: null,
    startMs: entry.at,
    endMs: entry.at + entry.totalMs,
    shared,
    own: ownAttributes(entry, options),
    // A caller who went away is no failure of the upstream.
    failed: outcome === "failed" || outcome === "interrupted" ? (options.message ?? errorTypeOf(entry)) : null,
    links,
  };
}

function spanName(entry: LedgerEntry): string {
  return `${operationOf(entry.endpoint)} ${askedModel(entry)}`;
}

export function askedModel({ upstreamModel, model }: LedgerEntry): string {
  return upstreamModel === "" ? model : upstreamModel;
}

/** What `sharedOfAttempt` reads. */
export function isSameAttempt(one: AttemptSource, other: AttemptSource): boolean {
  const { entry } = one;
  const { entry: its } = other;
  return (
    one.principal === other.principal &&
    one.upstream === other.upstream &&
    entry.deployment === its.deployment &&
    entry.model === its.model &&
    entry.upstreamModel === its.upstreamModel &&
    entry.endpoint === its.endpoint &&
    entry.outcome === its.outcome &&
    entry.errorCode === its.errorCode &&
    entry.stream === its.stream &&
    entry.usageSource === its.usageSource &&
    entry.upstreamStatus === its.upstreamStatus &&
    entry.priceVersion === its.priceVersion &&
    entry.provider === its.provider &&
    entry.keyId === its.keyId &&
    entry.workspaceId === its.workspaceId
  );
}

export function sharedOfAttempt(source: AttemptSource): SharedFields {
  return new SharedFields(attributesOf(source), spanName(source.entry), spanKinds.client);
}

function attributesOf({ entry, upstream, principal, oldNames }: AttemptSource): Attributes {
  const provider = providerNameOf(upstream?.kind ?? entry.provider);
  const errorType = errorTypeOf(entry);
  return {
    "gen_ai.operation.name": operationOf(entry.endpoint),
    "gen_ai.provider.name": provider,
    ...(oldNames ? { "gen_ai.system": provider } : {}),
    "gen_ai.request.model": askedModel(entry),
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

function ownAttributes(entry: LedgerEntry, options: AttemptSpanOptions): AttributeList {
  const own = options.own.clear();
  own.add(names.requestId, entry.requestId);
  own.add(names.attemptId, entry.attemptId);
  if (entry.retryIndex > 0) own.add(names.retry, entry.retryIndex);
  if (entry.upstreamId !== null) own.add(names.responseId, entry.upstreamId);
  if (entry.servedModel !== undefined) own.add(names.responseModel, maskText(entry.servedModel));
  const firstMs = entry.stream ? (entry.firstTokenMs ?? entry.firstByteMs) : null;
  if (firstMs !== null) own.add(names.firstChunk, firstMs / 1_000);
  if (entry.usageSource !== "none") addUsage(own, entry, options);
  if (entry.priceVersion !== null) addCost(own, entry, options);
  if (options.content !== null) addContent(own, options.content);
  for (const name in entry.tags) own.add(attributeName(`sluice.tag.${name}`), maskText(entry.tags[name] ?? ""));
  return own;
}

function addUsage(own: AttributeList, { usage }: LedgerEntry, { oldNames }: AttemptSpanOptions): void {
  const { input, output } = tokenCounts(usage);
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  own.add(names.input, input);
  own.add(names.output, output);
  const cacheRead = usage.cacheRead + usage.cacheReadAudio;
  if (cacheRead > 0) own.add(names.cacheRead, cacheRead);
  if (cacheWrite > 0) {
    own.add(names.cacheWrite, cacheWrite);
    if (oldNames) own.add(names.cacheCreation, cacheWrite);
  }
  const reasoning = usage.reasoning + usage.separateReasoning;
  if (reasoning > 0) own.add(names.reasoning, reasoning);
  const audioInput = usage.audioInput + usage.cacheReadAudio;
  if (audioInput > 0) own.add(names.audioInput, audioInput);
  if (usage.audioOutput > 0) own.add(names.audioOutput, usage.audioOutput);
  if (usage.imageInput > 0) own.add(names.imageInput, usage.imageInput);
  if (usage.imageOutput > 0) own.add(names.imageOutput, usage.imageOutput);
  if (usage.images > 0) own.add(names.images, usage.images);
  if (usage.videoSeconds > 0) own.add(names.videoSeconds, usage.videoSeconds);
  if (usage.webSearches > 0) own.add(names.webSearches, usage.webSearches);
}

/** As texts of JSON, which the conventions allow where a span cannot have lists of objects. */
function addContent(own: AttributeList, { system, input, output, truncated }: ReadContent): void {
  if (system !== null) own.add(names.system, system);
  if (input !== null) own.add(names.inputMessages, input);
  if (output !== null) own.add(names.outputMessages, output);
  if (truncated) own.add(names.truncated, true);
}

/** Whole billionths of a dollar are what the ledger adds up; dollars are for people. */
function addCost(own: AttributeList, { costNanoUsd }: LedgerEntry, { costNames }: AttemptSpanOptions): void {
  const usd = nanoToUsd(costNanoUsd);
  own.add(names.costNanoUsd, costNanoUsd);
  own.add(names.costUsd, usd);
  if (!costNames) return;
  own.add(names.costAmount, usd);
  own.add(names.costCurrency, "USD");
  own.add(names.costSource, "local");
}

const names = {
  requestId: attributeName("sluice.request.id"),
  attemptId: attributeName("sluice.attempt.id"),
  retry: attributeName("sluice.retry"),
  responseId: attributeName("gen_ai.response.id"),
  responseModel: attributeName("gen_ai.response.model"),
  firstChunk: attributeName("gen_ai.response.time_to_first_chunk"),
  input: attributeName("gen_ai.usage.input_tokens"),
  output: attributeName("gen_ai.usage.output_tokens"),
  cacheRead: attributeName("gen_ai.usage.cache_read.input_tokens"),
  cacheWrite: attributeName("gen_ai.usage.cache_write.input_tokens"),
  cacheCreation: attributeName("gen_ai.usage.cache_creation.input_tokens"),
  reasoning: attributeName("gen_ai.usage.reasoning.output_tokens"),
  audioInput: attributeName("gen_ai.usage.audio.input_tokens"),
  audioOutput: attributeName("gen_ai.usage.audio.output_tokens"),
  imageInput: attributeName("gen_ai.usage.image.input_tokens"),
  imageOutput: attributeName("gen_ai.usage.image.output_tokens"),
  system: attributeName("gen_ai.system_instructions"),
  inputMessages: attributeName("gen_ai.input.messages"),
  outputMessages: attributeName("gen_ai.output.messages"),
  truncated: attributeName("sluice.content.truncated"),
  images: attributeName("sluice.usage.images"),
  videoSeconds: attributeName("sluice.usage.video_seconds"),
  webSearches: attributeName("sluice.usage.web_searches"),
  costNanoUsd: attributeName("sluice.cost.nano_usd"),
  costUsd: attributeName("sluice.cost.usd"),
  costAmount: attributeName("gen_ai.usage.cost.amount"),
  costCurrency: attributeName("gen_ai.usage.cost.currency"),
  costSource: attributeName("gen_ai.usage.cost.source"),
} as const;
