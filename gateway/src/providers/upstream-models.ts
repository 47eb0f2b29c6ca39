import { type ModelEndpointId, modelEndpoints, modelNamePattern, modelTypes } from "@sluice/contract/words";
import { bounds, type ModelType } from "#core/index.ts";
import { isObject, type JsonObject, textOf } from "#protocols/index.ts";
import type { ProviderKind } from "./kind.ts";

export interface UpstreamModelListed {
  readonly id: string;
  readonly ownedBy: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number | null;
  /** null: the vendor does not report it. */
  readonly type: ModelType | null;
  /** Tokens; null: not reported. */
  readonly contextWindow: number | null;
  readonly outputTokensMax: number | null;
  /** Retired or announced; `retiresAt` in Unix milliseconds. */
  readonly deprecated: boolean;
  readonly retiresAt: number | null;
}

/**
 * Reads a page of a model list: OpenAI's and Anthropic's (`data`), Google's (`models`), or a bare list (Together); null for
 * anything else. Skips invalid names. `next` is the query of the next page; null at the end.
 */
export function readModelsPage(
  body: unknown,
): { readonly models: readonly UpstreamModelListed[]; readonly next: string | null } | null {
  const list = Array.isArray(body) ? body : isObject(body) ? (body["data"] ?? body["models"]) : null;
  if (!Array.isArray(list)) return null;
  return { models: list.filter(isObject).flatMap(listedModel), next: isObject(body) ? nextPage(body) : null };
}

/** Name patterns by type. Default: chat. */
const families: readonly (readonly [type: ModelType, pattern: RegExp])[] = [
  ["completion", /turbo-instruct|(^|[/:])(davinci|babbage)-002|(^|[-_/])completion$/i],
  ["rerank", /re-?rank|(^|[-_/])rank-/i],
  ["moderation", /moderation/i],
  ["decision", /(^|[-_/])decision([-_]|$)/i],
  ["transcription", /whisper|transcri(be|ption)|voxtral-mini|(^|[-_/])(asr|stt)([-_]|$)|paraformer|sensevoice/i],
  ["speech", /(^|[-_/])tts([-_.]|$)|(^|[-_/])speech([-_.]\d|$)|orpheus|kokoro|cosyvoice|cartesia\/|(^|\/)sonic-/i],
  ["embedding", /embed|(^|[/_-])(bge|gte|e5|minilm)[-_]|voyage-|jina-(clip|colbert)/i],
  [
    "video",
    /veo|sora|seedance|kling|hailuo|vidu|cogvideo|hunyuan-?video|ltx-|(^|[-_/])gen-?[34]|[-_.](t2v|i2v|r2v|kf2v|s2v|v2v)|video/i,
  ],
  ["image", /dall-e|image|imagen|flux|stable-diffusion|sdxl|seedream|seededit|cogview|recraft|ideogram|t2i|photon/i],
];

/** Suggests a name and a type that the provider type can serve. */
export function suggestedModel(
  kind: ProviderKind,
  listed: Pick<UpstreamModelListed, "id" | "type">,
): { readonly name: string; readonly type: ModelType } {
  const types = typesOf(kind);
  const guessed = listed.type ?? families.find(([, pattern]) => pattern.test(listed.id))?.[0] ?? "chat";
  return { name: suggestedName(listed.id), type: types.includes(guessed) ? guessed : (types[0] ?? "chat") };
}

export function typesOf(kind: ProviderKind): readonly ModelType[] {
  const served = new Set<string>(
    kind.lanes.flatMap(({ endpoint }) =>
      endpoint in modelEndpoints ? modelEndpoints[endpoint as ModelEndpointId].types : [],
    ),
  );
  if (kind.video !== undefined) served.add("video");
  return modelTypes.filter((type) => served.has(type));
}

function listedModel(model: JsonObject): readonly UpstreamModelListed[] {
  const id = (textOf(model["id"]) ?? textOf(model["name"]) ?? "").replace(/^models\//, "");
  if (!/^[^\p{Cc}]{1,256}$/u.test(id)) return [];
  const ends = model["deprecation"] ?? model["retires_at"];
  const retiresAt = typeof ends === "string" ? dateOf(ends) : null;
  return [
    {
      id,
      ownedBy: shortText(model["owned_by"]),
      createdAt: createdAt(model),
      type: listedType(model),
      contextWindow: tokensOf(model["max_input_tokens"] ?? model["inputTokenLimit"] ?? model["max_context_length"]),
      outputTokensMax: tokensOf(model["outputTokenLimit"] ?? (model["type"] === "model" ? model["max_tokens"] : null)),
      deprecated: retiresAt !== null || ["deprecated", "retired", "legacy"].includes(String(model["lifecycle"])),
      retiresAt,
    },
  ];
}

function tokensOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= 100_000_000 ? value : null;
}

function dateOf(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : null;
}

/** `created` is Unix seconds (OpenAI); `created_at` is a date (Anthropic) or seconds. */
function createdAt(model: JsonObject): number | null {
  const created = model["created"] ?? model["created_at"];
  const ms =
    typeof created === "number" ? created * 1_000 : typeof created === "string" ? Date.parse(created) : Number.NaN;
  return Number.isSafeInteger(Math.round(ms)) && ms > 0 ? Math.round(ms) : null;
}

/** Together reports `type`, Google the supported methods. */
function listedType(model: JsonObject): ModelType | null {
  const { type, supportedGenerationMethods: methods } = model;
  const modelType = modelTypes.find((known) => known === type);
  if (modelType !== undefined) return modelType;
  if (!Array.isArray(methods)) return null;
  if (methods.includes("embedContent")) return "embedding";
  return methods.includes("predictLongRunning") ? "video" : null;
}

function nextPage(body: JsonObject): string | null {
  const token = textOf(body["nextPageToken"]);
  if (token !== null && token !== "") return page("pageToken", token);
  const last = textOf(body["last_id"]);
  return body["has_more"] === true && last !== null && last !== "" ? page("after_id", last) : null;
}

function page(name: string, place: string): string | null {
  return place.length > bounds.queryBytesMax ? null : `${name}=${encodeURIComponent(place)}`;
}

/** Removes Fireworks' path prefix. */
function suggestedName(id: string): string {
  const name = id.replace(/^accounts\/[^/]+\/models\//, "").replace(/[\s*]+/g, "-");
  return modelNamePattern.test(name) ? name : "model";
}

function shortText(value: unknown): string | null {
  const text = textOf(value);
  return text === null || text === "" ? null : text.slice(0, 256);
}
