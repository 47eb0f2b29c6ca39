import { type Provider, unknownCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { refusalObject } from "../classify-by-status.ts";
import type { BadAnswer, OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, GoodAnswer, VideoAdapter, VideoState } from "../video-adapter.ts";
import {
  answerObject,
  callbackIdIn,
  createdIdIn,
  invalidAnswer,
  stateIn,
  taskError,
  videoState,
  webUrl,
} from "./answers.ts";
import { type Material, materialOf, refuseReferences } from "./material.ts";
import { createTaskDraft, plainRoot, refuseWatermark, seedOf, unsupported, videoDraft } from "./requests.ts";

/**
 * fal's queue (@fal-ai/client@1.10.1; K = general knowledge). A model is `owner/app/path`; polls use owner and app. The
 * body has the model's own fields: ours use the most common names (K), next to the caller's own. COMPLETED only means that
 * there is a result, a video or a refusal, to fetch.
 */
export const falVideo: VideoAdapter = {
  capabilities: () => ({ ...unknownCapabilities, referencesMax: 0 }),
  create: createDraft,
  readCreated: createdIdIn("request_id"),
  poll: (provider, upstreamModel, upstreamId) =>
    videoDraft(provider, `${requestUrl(provider, upstreamModel, upstreamId)}/status`),
  readState,
  readNext: (answer, before) => {
    const videoUrl = videoIn(answerObject(answer));
    if (videoUrl === null) throw invalidAnswer();
    return { ...before, state: "succeeded", videoUrl, next: null };
  },
  readNextRefusal,
  cancel: (provider, upstreamModel, upstreamId) =>
    videoDraft(provider, `${requestUrl(provider, upstreamModel, upstreamId)}/cancel`, { method: "PUT" }),
  readCallback: callbackIdIn("request_id"),
};

function createDraft(input: CreateInput): OutboundDraft {
  const { provider, upstreamModel, turn, callbackUrl } = input;
  refuseWatermark(turn);
  const material = materialOf(turn);
  refuseReferences([...material.images, ...material.videos, ...material.audios], "references but in its own fields");
  const path = upstreamModel.split("/").map(encodeURIComponent).join("/");
  const hook = callbackUrl === null ? "" : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
  return createTaskDraft(input, `${plainRoot(provider)}/${path}${hook}`, {
    prompt: turn.prompt,
    aspect_ratio: turn.ratio,
    resolution: turn.resolution,
    duration: durationIn(turn, upstreamModel),
    seed: seedOf(turn),
    generate_audio: turn.audio,
    ...framesIn(material, upstreamModel),
  });
}

/** Most models expect text, Veo's with a unit, some a number (K). */
function durationIn({ durationSeconds }: VideoTurn, upstreamModel: string): string | number | null {
  if (durationSeconds === null) return null;
  if (/veo/.test(upstreamModel)) return `${durationSeconds}s`;
  return /sora|ltx|flux/.test(upstreamModel) ? durationSeconds : String(durationSeconds);
}

function framesIn({ first, last }: Material, upstreamModel: string): JsonObject {
  if (last === null) return { image_url: first };
  // The field of the last frame depends on the model and the version of Kling (K).
  const name = /kling-video\/(v1|v2\.[0-5]|v2\/)/.test(upstreamModel) ? "tail_image_url" : "end_image_url";
  return { image_url: first, [name]: last };
}

function requestUrl(provider: Provider, upstreamModel: string, id: string): string {
  const [owner = "", app = ""] = upstreamModel.split("/");
  if (owner === "" || app === "") throw unsupported("model", "A model of fal is named owner/app or owner/app/path.");
  const place = [owner, app].map(encodeURIComponent).join("/");
  return `${plainRoot(provider)}/${place}/requests/${encodeURIComponent(id)}`;
}

function readState(answer: GoodAnswer, provider: Provider): VideoState {
  const status = answerObject(answer);
  if (textOf(status["status"]) === null) throw invalidAnswer();
  if (status["status"] !== "COMPLETED") return videoState({ state: stateIn(words, status["status"]) });
  const { error } = status;
  if (textOf(error) !== null || isObject(error)) {
    return videoState({ state: "failed", error: taskError(status["error_type"], messageOf(error)) });
  }
  // Uses only the path, so that the key goes to the account's base URL.
  const [, path = ""] =
    /^https?:\/\/[^/]+(\/[\w./:%-]+\/requests\/[\w-]+)$/.exec(textOf(status["response_url"]) ?? "") ?? [];
  if (path === "" || path.includes("..")) throw invalidAnswer();
  return videoState({ state: "running", next: videoDraft(provider, plainRoot(provider) + path) });
}

/** The model's own refusals and failures have a `detail`; others may be temporary. */
function readNextRefusal(answer: BadAnswer, before: VideoState): VideoState | null {
  const { detail } = refusalObject(answer.body);
  if (detail === undefined || temporaryStatuses.has(answer.status)) return null;
  // A canceled request completes with 499 (K).
  if (answer.status === 499) return { ...before, state: "cancelled", next: null };
  const item = objectOf(arrayOf(detail)[0]);
  const error = taskError(item["type"] ?? `upstream_${answer.status}`, textOf(detail) ?? item["msg"]);
  return { ...before, state: "failed", error, next: null };
}

/** Account, network and temporary failures. 404 may come before the result is replicated. */
const temporaryStatuses: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 409, 425, 429, 502, 503, 504]);

function messageOf(error: unknown): unknown {
  return isObject(error) ? (error["message"] ?? error["msg"]) : error;
}

function videoIn(result: JsonObject): string | null {
  const { video } = result;
  return (
    webUrl(objectOf(video)["url"]) ??
    webUrl(video) ??
    webUrl(objectOf(arrayOf(result["videos"])[0])["url"]) ??
    webUrl(result["video_url"])
  );
}

const words = { IN_QUEUE: "queued", IN_PROGRESS: "running" } as const;
