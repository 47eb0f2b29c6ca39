import { modelEndpoints } from "@sluice/contract/words";
import { bounds, type LedgerEntry, nanoToUsd, type Principal } from "#core/index.ts";
import type { OtlpSettings, RequestEnd } from "#ports/index.ts";
import { shownSentence } from "../access-log.ts";
import type { ReadContent } from "../content/read-content.ts";
import { maskText } from "../redacted.ts";
import type { CallTotals } from "./call-totals.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import { type AttributeList, type Attributes, SharedFields, spanKinds } from "./record-fields.ts";

/** The upstream account of an attempt. */
export interface UpstreamFacts {
  readonly kind: string;
  readonly host: string;
  readonly port: number;
}

export function serverAttributes(upstream: UpstreamFacts | null) {
  if (upstream === null || upstream.host === "") return {};
  return { "server.address": upstream.host, "server.port": upstream.port };
}

export type NameOptions = Pick<OtlpSettings, "oldNames" | "costNames">;

/** The inputs of the shared attributes of an attempt's span. */
export interface AttemptSource {
  readonly entry: LedgerEntry;
  /** null if the account no longer exists. */
  readonly upstream: UpstreamFacts | null;
  readonly principal: Principal | null;
  readonly oldNames: boolean;
}

export function requestModelOf({ upstreamModel, model }: LedgerEntry): string {
  return upstreamModel === "" ? model : upstreamModel;
}

/** Everything that `attemptFields` reads. */
export function attemptFacts({ entry, upstream, principal }: AttemptSource): readonly unknown[] {
  return [
    principal,
    upstream,
    entry.deployment,
    entry.model,
    entry.upstreamModel,
    entry.endpoint,
    entry.outcome,
    entry.errorCode,
    entry.stream,
    entry.usageSource,
    entry.upstreamStatus,
    entry.priceVersion,
    entry.provider,
    entry.keyId,
    entry.workspaceId,
  ];
}

/** Named by OpenTelemetry's GenAI conventions. */
export function attemptFields({ entry, upstream, principal, oldNames }: AttemptSource): SharedFields {
  const provider = providerNameOf(upstream?.kind ?? entry.provider);
  const operation = operationOf(entry.endpoint);
  const attributes: Attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
    "gen_ai.system": oldNames ? provider : null,
    "gen_ai.request.model": requestModelOf(entry),
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
  return new SharedFields(attributes, `${operation} ${requestModelOf(entry)}`, spanKinds.client);
}

/** Adds the attributes that only this attempt has. */
export function addAttempt(
  own: AttributeList,
  entry: LedgerEntry,
  content: ReadContent | null,
  { oldNames, costNames }: NameOptions,
): void {
  own.add("sluice.request.id", entry.requestId);
  own.add("sluice.attempt.id", entry.attemptId);
  own.addCount("sluice.retry", entry.retryIndex);
  if (entry.upstreamId !== null) own.add("gen_ai.response.id", entry.upstreamId);
  if (entry.servedModel !== undefined) own.add("gen_ai.response.model", maskText(entry.servedModel));
  const firstMs = entry.stream ? (entry.firstTokenMs ?? entry.firstByteMs) : null;
  if (firstMs !== null) own.add("gen_ai.response.time_to_first_chunk", firstMs / 1_000);
  if (entry.usageSource !== "none") addUsage(own, entry, oldNames);
  if (entry.priceVersion !== null) addCost(own, entry, costNames);
  if (content !== null) addContent(own, content);
  for (const name in entry.tags) own.add(`sluice.tag.${name}`, maskText(entry.tags[name] ?? ""));
}

function addUsage(own: AttributeList, { usage }: LedgerEntry, oldNames: boolean): void {
  const { input, output } = tokenCounts(usage);
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  own.add("gen_ai.usage.input_tokens", input);
  own.add("gen_ai.usage.output_tokens", output);
  own.addCount("gen_ai.usage.cache_read.input_tokens", usage.cacheRead + usage.cacheReadAudio);
  own.addCount("gen_ai.usage.cache_write.input_tokens", cacheWrite);
  if (oldNames) own.addCount("gen_ai.usage.cache_creation.input_tokens", cacheWrite);
  own.addCount("gen_ai.usage.reasoning.output_tokens", usage.reasoning + usage.separateReasoning);
  own.addCount("gen_ai.usage.audio.input_tokens", usage.audioInput + usage.cacheReadAudio);
  own.addCount("gen_ai.usage.audio.output_tokens", usage.audioOutput);
  own.addCount("gen_ai.usage.image.input_tokens", usage.imageInput);
  own.addCount("gen_ai.usage.image.output_tokens", usage.imageOutput);
  own.addCount("sluice.usage.images", usage.images);
  own.addCount("sluice.usage.video_seconds", usage.videoSeconds);
  own.addCount("sluice.usage.web_searches", usage.webSearches);
}

/** As JSON text, which the conventions allow because a span cannot hold lists of objects. */
function addContent(own: AttributeList, { system, input, output, truncated }: ReadContent): void {
  if (system !== null) own.add("gen_ai.system_instructions", system);
  if (input !== null) own.add("gen_ai.input.messages", input);
  if (output !== null) own.add("gen_ai.output.messages", output);
  if (truncated) own.add("sluice.content.truncated", true);
}

function addCost(own: AttributeList, { costNanoUsd }: LedgerEntry, costNames: boolean): void {
  const usd = nanoToUsd(costNanoUsd);
  own.add("sluice.cost.nano_usd", costNanoUsd);
  own.add("sluice.cost.usd", usd);
  if (!costNames) return;
  own.add("gen_ai.usage.cost.amount", usd);
  own.add("gen_ai.usage.cost.currency", "USD");
  own.add("gen_ai.usage.cost.source", "local");
}

/** A finished request; `endMs` in Unix milliseconds. */
export interface EndedCall {
  readonly end: RequestEnd;
  readonly endMs: number;
}

/** Whether the request created a video task. An idempotent repeat looks the same. */
export function createdTask({ route, method, status }: RequestEnd): boolean {
  return method === "POST" && status < 300 && taskRoutes.has(route);
}

/** The inputs of the shared attributes of a call's span. */
export interface CallSource {
  readonly end: RequestEnd;
  readonly totals: CallTotals | null;
}

function errorOf({ error, status }: RequestEnd, totals: CallTotals | null): string | null {
  if (error !== null) return error;
  if (status >= 400) return String(status);
  return totals?.isBroken === true ? totals.errorType : null;
}

/** The message of the failure, as in the log; `error.type` holds its code. */
export function statusMessage(end: RequestEnd, totals: CallTotals | null): string {
  return end.message == null ? (errorOf(end, totals) ?? String(end.status)) : shownSentence(end.message);
}

/** Adds the attributes that only this call has. */
export function addCall(own: AttributeList, { requestId, address }: RequestEnd, totals: CallTotals | null): void {
  own.add("sluice.request.id", requestId);
  if (address !== "") own.add("client.address", address);
  if (totals === null) return;
  own.add("sluice.attempts", totals.attempts);
  if (totals.attempts === 0) return;
  own.add("sluice.request.cost.nano_usd", totals.costNanoUsd);
  own.add("sluice.request.cost.usd", nanoToUsd(totals.costNanoUsd));
}

/** Everything that `callFields` reads. */
export function callFacts({ end, totals }: CallSource): readonly unknown[] {
  return [
    end.principal,
    end.method,
    end.route,
    end.status,
    end.error,
    end.key,
    end.model,
    totals?.userAgent,
    totals?.stream,
    totals?.keyId,
    totals?.workspaceId,
    totals?.isBroken,
    totals?.errorType,
  ];
}

export function callFields({ end, totals }: CallSource): SharedFields {
  const { model, method } = end;
  const route = routeTemplates.get(end.route) ?? end.route;
  const attributes: Attributes = {
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": end.status,
    ...callerAttributes(end, totals),
    "sluice.model.requested": model === null ? null : maskText(model.slice(0, bounds.traceTextMax)),
    "sluice.stream": totals?.stream || null,
    "user_agent.original": totals === null || totals.userAgent === "" ? null : maskText(totals.userAgent),
    "error.type": errorOf(end, totals),
  };
  return new SharedFields(attributes, `${method} ${route}`, spanKinds.server);
}

function callerAttributes({ key, principal }: RequestEnd, totals: CallTotals | null): Attributes {
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
  return { "sluice.key.prefix": key, "sluice.workspace.id": totals?.workspaceId, "sluice.key.id": totals?.keyId };
}

const tasks = "/v1/video/tasks";
const videos = "/v1/videos";

/** `http.route` by the name of the route in metrics. Routes that are missing here (probes, the console) have no spans. */
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
  ["files", "/v1/files"],
  ["file", "/v1/files/{file_id}"],
  ["uploads", "/v1/uploads"],
  ["upload-parts", "/v1/uploads/{upload_id}/parts"],
  ["upload-end", "/v1/uploads/{upload_id}/complete"],
  ["file-upload", "/upload/v1beta/files"],
  ["file-content", "/v1/files/{file_id}/content"],
  ["batches", "/v1/batches"],
  ["batch", "/v1/batches/{batch_id}"],
  ["batch-callback", "/v1/batch-callbacks/{provider}"],
  ["message-batches", "/v1/messages/batches"],
  ["message-batch", "/v1/messages/batches/{batch_id}"],
  ["bedrock-invoke", "/model/{model}/invoke"],
  ["bedrock-count", "/model/{model}/count-tokens"],
  ["vertex-predict", "/projects/{project}/locations/{location}/publishers/anthropic/models/{model}:rawPredict"],
  ...["conversation", "container", "vector_store", "skill"].flatMap((kind): [string, string][] => [
    [`${kind}s`, `/v1/${kind}s`],
    [kind, `/v1/${kind}s/{${kind}_id}`],
  ]),
  ["kept-response", "/v1/responses/{response_id}"],
  ["kept-interaction", "/v1beta/interactions/{interaction_id}"],
  ["models", "/v1/models"],
  ["model", "/v1/models/{model}"],
  ["usage", "/v1/usage"],
  ["pass-through", "/v1/providers/{provider}/{path}"],
]);

/** POSTs that create a video task. The task has its own trace. */
const taskRoutes: ReadonlySet<string> = new Set(["video-tasks", "videos", "video-remix"]);
