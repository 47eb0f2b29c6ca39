import { modelEndpoints } from "@sluice/contract/words";
import { bounds, type LedgerEntry, nanoToUsd, type Principal } from "#core/index.ts";
import type { OtlpSettings, RequestEnd } from "#ports/index.ts";
import { shownSentence } from "../access-log.ts";
import type { ReadContent } from "../content/read-content.ts";
import { maskText } from "../redacted.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import { type AttributeList, type Attributes, attributeName, SharedFields, spanKinds } from "./record-fields.ts";
import type { CallFacts } from "./traced-call.ts";

/** The upstream account of an attempt, as the config snapshot knows it. */
export interface UpstreamFacts {
  readonly kind: string;
  readonly host: string;
  readonly port: number;
}

/** Where it is; nothing where that is not known. */
export function serverAttributes(upstream: UpstreamFacts | null) {
  if (upstream === null || upstream.host === "") return {};
  return { "server.address": upstream.host, "server.port": upstream.port };
}

export type NameOptions = Pick<OtlpSettings, "oldNames" | "costNames">;

/** What the attributes that many spans of attempts have alike follow from: names by OpenTelemetry's GenAI conventions. */
export interface AttemptSource {
  readonly entry: LedgerEntry;
  /** null: it is not there any more. */
  readonly upstream: UpstreamFacts | null;
  readonly principal: Principal | null;
  readonly oldNames: boolean;
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
  const name = `${operationOf(source.entry.endpoint)} ${askedModel(source.entry)}`;
  return new SharedFields(attemptAttributes(source), name, spanKinds.client);
}

function attemptAttributes({ entry, upstream, principal, oldNames }: AttemptSource): Attributes {
  const provider = providerNameOf(upstream?.kind ?? entry.provider);
  return {
    "gen_ai.operation.name": operationOf(entry.endpoint),
    "gen_ai.provider.name": provider,
    "gen_ai.system": oldNames ? provider : null,
    "gen_ai.request.model": askedModel(entry),
    "gen_ai.request.stream": entry.stream || null,
    ...serverAttributes(upstream),
    "http.response.status_code": entry.upstreamStatus,
    "sluice.endpoint": entry.endpoint,
    "sluice.model": entry.model,
    "sluice.provider": entry.provider,
    "sluice.deployment": entry.deployment,
    "sluice.outcome": entry.outcome,
    "sluice.usage.source": entry.usageSource,
    "sluice.price.version": entry.priceVersion,
    "sluice.workspace.id": entry.workspaceId,
    "sluice.key.id": entry.keyId,
    "sluice.workspace": principal?.workspace.slug,
    "sluice.key.name": principal?.key.name,
    "error.type": errorTypeOf(entry),
  };
}

/** Adds what the span of an attempt has alone. `content`: what was said; null: it is not to be told. */
export function addAttempt(
  own: AttributeList,
  entry: LedgerEntry,
  content: ReadContent | null,
  { oldNames, costNames }: NameOptions,
): void {
  own.add(attemptNames.requestId, entry.requestId);
  own.add(attemptNames.attemptId, entry.attemptId);
  if (entry.retryIndex > 0) own.add(attemptNames.retry, entry.retryIndex);
  if (entry.upstreamId !== null) own.add(attemptNames.responseId, entry.upstreamId);
  if (entry.servedModel !== undefined) own.add(attemptNames.responseModel, maskText(entry.servedModel));
  const firstMs = entry.stream ? (entry.firstTokenMs ?? entry.firstByteMs) : null;
  if (firstMs !== null) own.add(attemptNames.firstChunk, firstMs / 1_000);
  if (entry.usageSource !== "none") addUsage(own, entry, oldNames);
  if (entry.priceVersion !== null) addCost(own, entry, costNames);
  if (content !== null) addContent(own, content);
  for (const name in entry.tags) own.add(attributeName(`sluice.tag.${name}`), maskText(entry.tags[name] ?? ""));
}

function addUsage(own: AttributeList, { usage }: LedgerEntry, oldNames: boolean): void {
  const { input, output } = tokenCounts(usage);
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  own.add(attemptNames.input, input);
  own.add(attemptNames.output, output);
  const cacheRead = usage.cacheRead + usage.cacheReadAudio;
  if (cacheRead > 0) own.add(attemptNames.cacheRead, cacheRead);
  if (cacheWrite > 0) {
    own.add(attemptNames.cacheWrite, cacheWrite);
    if (oldNames) own.add(attemptNames.cacheCreation, cacheWrite);
  }
  const reasoning = usage.reasoning + usage.separateReasoning;
  if (reasoning > 0) own.add(attemptNames.reasoning, reasoning);
  const audioInput = usage.audioInput + usage.cacheReadAudio;
  if (audioInput > 0) own.add(attemptNames.audioInput, audioInput);
  if (usage.audioOutput > 0) own.add(attemptNames.audioOutput, usage.audioOutput);
  if (usage.imageInput > 0) own.add(attemptNames.imageInput, usage.imageInput);
  if (usage.imageOutput > 0) own.add(attemptNames.imageOutput, usage.imageOutput);
  if (usage.images > 0) own.add(attemptNames.images, usage.images);
  if (usage.videoSeconds > 0) own.add(attemptNames.videoSeconds, usage.videoSeconds);
  if (usage.webSearches > 0) own.add(attemptNames.webSearches, usage.webSearches);
}

/** As texts of JSON, which the conventions allow where a span cannot have lists of objects. */
function addContent(own: AttributeList, { system, input, output, truncated }: ReadContent): void {
  if (system !== null) own.add(attemptNames.system, system);
  if (input !== null) own.add(attemptNames.inputMessages, input);
  if (output !== null) own.add(attemptNames.outputMessages, output);
  if (truncated) own.add(attemptNames.truncated, true);
}

/** Whole billionths of a dollar are what the ledger adds up; dollars are for people. */
function addCost(own: AttributeList, { costNanoUsd }: LedgerEntry, costNames: boolean): void {
  const usd = nanoToUsd(costNanoUsd);
  own.add(attemptNames.costNanoUsd, costNanoUsd);
  own.add(attemptNames.costUsd, usd);
  if (!costNames) return;
  own.add(attemptNames.costAmount, usd);
  own.add(attemptNames.costCurrency, "USD");
  own.add(attemptNames.costSource, "local");
}

const attemptNames = {
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

/** A request that is over, and when, in Unix milliseconds. */
export interface EndedCall {
  readonly end: RequestEnd;
  readonly endMs: number;
}

/** Whether the request began a video task. A repeated one that was answered with the first one's task looks the same. */
export function beganTask({ route, method, status }: RequestEnd): boolean {
  return method === "POST" && status < 300 && taskRoutes.has(route);
}

/** What the attributes that many spans have alike follow from. */
export interface CallSource {
  readonly end: RequestEnd;
  readonly facts: CallFacts | null;
}

function errorOf({ error, status }: RequestEnd, facts: CallFacts | null): string | null {
  if (error !== null) return error;
  if (status >= 400) return String(status);
  return facts?.isBroken === true ? facts.errorType : null;
}

/** The sentence of the failure, as in the log; `error.type` has its code. */
export function statusMessage(end: RequestEnd, facts: CallFacts | null): string {
  return end.message == null ? (errorOf(end, facts) ?? String(end.status)) : shownSentence(end.message);
}

/** Adds what the span of a call has alone. */
export function addCall(own: AttributeList, { requestId, address }: RequestEnd, facts: CallFacts | null): void {
  own.add(callNames.requestId, requestId);
  if (address !== "") own.add(callNames.address, address);
  if (facts === null) return;
  own.add(callNames.attempts, facts.attempts);
  if (facts.attempts === 0) return;
  own.add(callNames.costNanoUsd, facts.costNanoUsd);
  own.add(callNames.costUsd, nanoToUsd(facts.costNanoUsd));
}

const callNames = {
  requestId: attributeName("sluice.request.id"),
  address: attributeName("client.address"),
  attempts: attributeName("sluice.attempts"),
  costNanoUsd: attributeName("sluice.request.cost.nano_usd"),
  costUsd: attributeName("sluice.request.cost.usd"),
} as const;

/** What `sharedOfCall` reads. */
export function isSameCall(one: CallSource, other: CallSource): boolean {
  const { end, facts } = one;
  const { end: its, facts: theirs } = other;
  return (
    end.principal === its.principal &&
    end.method === its.method &&
    end.route === its.route &&
    end.status === its.status &&
    end.error === its.error &&
    end.key === its.key &&
    end.model === its.model &&
    facts?.userAgent === theirs?.userAgent &&
    facts?.stream === theirs?.stream &&
    facts?.keyId === theirs?.keyId &&
    facts?.workspaceId === theirs?.workspaceId &&
    facts?.isBroken === theirs?.isBroken &&
    facts?.errorType === theirs?.errorType
  );
}

export function sharedOfCall(source: CallSource): SharedFields {
  const { method, route } = source.end;
  const name = `${method} ${routeTemplates.get(route) ?? route}`;
  return new SharedFields(callAttributes(source), name, spanKinds.server);
}

function callAttributes({ end, facts }: CallSource): Attributes {
  const { model, route } = end;
  return {
    "http.request.method": end.method,
    "http.route": routeTemplates.get(route) ?? route,
    "http.response.status_code": end.status,
    ...callerAttributes(end, facts),
    "sluice.model.requested": model === null ? null : maskText(model.slice(0, bounds.traceTextMax)),
    "sluice.stream": facts?.stream || null,
    "user_agent.original": facts === null || facts.userAgent === "" ? null : maskText(facts.userAgent),
    "error.type": errorOf(end, facts),
  };
}

function callerAttributes({ key, principal }: RequestEnd, facts: CallFacts | null): Attributes {
  if (principal != null) {
    return {
      "sluice.workspace.id": principal.workspace.id,
      "sluice.workspace": principal.workspace.slug,
      "sluice.group": principal.group.name,
      "sluice.key.id": principal.key.id,
      "sluice.key.name": principal.key.name,
      "sluice.key.prefix": principal.key.prefix,
    };
  }
  return { "sluice.key.prefix": key, "sluice.workspace.id": facts?.workspaceId, "sluice.key.id": facts?.keyId };
}

const tasks = "/v1/video/tasks";
const videos = "/v1/videos";

/**
 * The paths of calls by their route's name in metrics: `http.route`. What does not stand here (probes, the console) makes no
 * span.
 */
export const routeTemplates: ReadonlyMap<string, string> = new Map([
  ...Object.entries(modelEndpoints).map(([name, { path }]): [string, string] => [name, path]),
  ["video-tasks", tasks],
  ["video-task", `${tasks}/{task_id}`],
  ["video-content", `${tasks}/{task_id}/content`],
  ["videos", videos],
  ["video", `${videos}/{video_id}`],
  ["video-remix", `${videos}/{video_id}/remix`],
  ["video-callback", "/v1/video/callbacks/{provider}/{token}"],
  ["asset-groups", "/v1/asset-groups"],
  ["asset-group", "/v1/asset-groups/{group_id}"],
  ["assets", "/v1/assets"],
  ["asset", "/v1/assets/{asset_id}"],
  ["blob", "/v1/blobs/{blob}"],
  ["kept-response", "/v1/responses/{response_id}"],
  ["models", "/v1/models"],
  ["model", "/v1/models/{model}"],
  ["usage", "/v1/usage"],
  ["pass-through", "/v1/providers/{provider}/{path}"],
]);

/** POSTs that begin a video task: the task goes on in a trace of its own. */
const taskRoutes: ReadonlySet<string> = new Set(["video-tasks", "videos", "video-remix"]);
