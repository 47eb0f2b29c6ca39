import { unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf } from "#protocols/index.ts";
import { settingText } from "../settings.ts";
import type { GoodAnswer, VideoAdapter, VideoState } from "../video-adapter.ts";
import {
  answerObject,
  createdId,
  createdObject,
  foreignUrl,
  goneBy404,
  invalidAnswer,
  taskError,
  videoState,
  webUrl,
} from "./answers.ts";
import { type Material, materialOf, readDataUri, refuseNonImages } from "./material.ts";
import {
  membersFor,
  present,
  type RootOf,
  refuseSeed,
  refuseSilence,
  refuseSound,
  refuseWatermark,
  seedOf,
  unsupported,
  videoDraft,
} from "./requests.ts";

/** Shared by both APIs. The longest video is eight seconds (K). */
const sharedMethods = {
  readCreated: readVeoName,
  readState: (answer: GoodAnswer) => stateOf(answerObject(answer)),
  reportsGone: goneBy404((refusal) => objectOf(refusal["error"])["status"] === "NOT_FOUND"),
  usualSeconds: 8,
  materialAs: "data",
} as const satisfies Partial<VideoAdapter>;

/**
 * Veo by the Gemini API (Google's SDK; K = general knowledge). No seed, audio switch, state before `done` or cancellation
 * (K). Downloads need the key and redirect; files are kept two days (K).
 */
export function veoVideo(rootOf: RootOf): VideoAdapter {
  return {
    ...sharedMethods,
    capabilities: (upstreamModel) => ({ ...veoCapabilities(upstreamModel), seed: false }),
    create: ({ provider, upstreamModel, turn }) => {
      refuseSeed(turn);
      if (isSilent(upstreamModel)) refuseSound(turn);
      else refuseSilence(turn);
      const url = `${rootOf(provider)}/models/${encodeURIComponent(upstreamModel)}:predictLongRunning`;
      return videoDraft(provider, url, { json: veoBody(turn, {}) });
    },
    noTask: "models/veo/operations/0",
    poll: (provider, _, upstreamId) => videoDraft(provider, `${rootOf(provider)}/${upstreamId}`),
    // Uses only the file's name, so that the key goes to the account's base URL.
    content: (provider, url) => {
      const [, file] = /^https?:\/\/[^/]+\/.*?(files\/[\w-][\w.-]*:download)\?alt=media$/.exec(url) ?? [];
      if (file === undefined) throw foreignUrl();
      return videoDraft(provider, `${rootOf(provider)}/${file}?alt=media`, { headers: { accept: "*/*" } });
    },
    keepsSeconds: 172_800,
  };
}

/**
 * Veo on Google Cloud. Requires a bucket (`settings.storage_uri`, `gs://…`), because otherwise every poll returns the whole
 * video as base64.
 */
export function veoOnVertex(rootOf: RootOf): VideoAdapter {
  return {
    ...sharedMethods,
    capabilities: (upstreamModel) => ({ ...veoCapabilities(upstreamModel), seed: true }),
    create: ({ provider, upstreamModel, turn }) => {
      const storageUri = settingText(provider, "storage_uri");
      if (storageUri === null) {
        throw unsupported("model", "The provider needs settings.storage_uri, a bucket for its videos.");
      }
      if (isSilent(upstreamModel)) refuseSound(turn);
      const extra = {
        seed: seedOf(turn),
        // Veo 2 has no such field (K).
        generateAudio: isSilent(upstreamModel) ? undefined : (turn.audio ?? undefined),
        storageUri,
      };
      const url = `${modelUrl(rootOf(provider), upstreamModel)}:predictLongRunning`;
      return videoDraft(provider, url, { json: veoBody(turn, extra) });
    },
    poll: (provider, upstreamModel, upstreamId) => {
      const url = `${modelUrl(rootOf(provider), upstreamModel)}:fetchPredictOperation`;
      return videoDraft(provider, url, { json: { operationName: upstreamId } });
    },
    content: (provider, url) => {
      const [, bucket = "", object = ""] = /^gs:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
      if (bucket === "") throw foreignUrl();
      const path = `b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(object)}`;
      const stored = `https://storage.googleapis.com/storage/v1/${path}?alt=media`;
      return videoDraft(provider, stored, { headers: { accept: "*/*" } });
    },
  };
}

function modelUrl(root: string, upstreamModel: string): string {
  return `${root}/publishers/google/models/${encodeURIComponent(upstreamModel)}`;
}

/** 1080p needs eight seconds on Veo 3 (K); the vendor checks that. */
function veoCapabilities(upstreamModel: string): VideoCapabilities {
  if (!upstreamModel.includes("veo-")) return unknownCapabilities;
  const silent = isSilent(upstreamModel);
  return {
    ...unknownCapabilities,
    ratios: ["16:9", "9:16"],
    resolutions: silent ? ["720p"] : ["720p", "1080p", "4k"], // K
    durations: silent ? [5, 6, 7, 8] : [4, 6, 8], // K
    audio: !silent,
    firstFrame: true,
  };
}

/** Audio starts with Veo 3 (K). */
function isSilent(upstreamModel: string): boolean {
  return /veo-2/.test(upstreamModel);
}

/** Our fields override the caller's own. */
function veoBody(turn: VideoTurn, extra: JsonObject): object {
  refuseWatermark(turn);
  const material = materialOf(turn);
  refuseNonImages(material);
  const own = objectOf(arrayOf(turn.vendorFields["instances"])[0]);
  const ours = present({
    aspectRatio: turn.ratio,
    resolution: turn.resolution,
    durationSeconds: turn.durationSeconds,
    ...extra,
  });
  return {
    instances: [{ ...own, ...(turn.prompt === null ? {} : { prompt: turn.prompt }), ...pictures(material) }],
    parameters: { ...membersFor(turn.vendorFields, "parameters", (member) => member !== "instances"), ...ours },
  };
}

function pictures({ first, last, images }: Material): object {
  return {
    ...(first === null ? {} : { image: picture(first, "image") }),
    ...(last === null ? {} : { lastFrame: picture(last, "last_frame") }),
    ...(images.length === 0
      ? {}
      : { referenceImages: images.map((url) => ({ image: picture(url, "references"), referenceType: "asset" })) }),
  };
}

function picture(url: string, param: string): object {
  const inline = readDataUri(url);
  if (inline === null) throw unsupported(param, "This model supports pictures only as base64 `data:` URIs.");
  return { bytesBase64Encoded: inline.base64, mimeType: inline.contentType };
}

/** The operation's name is a path, validated to stay below the API. */
function readVeoName(answer: GoodAnswer): { readonly upstreamId: string } {
  const { name } = createdObject(answer);
  return createdId(typeof name === "string" && /^[\w][\w.:@/-]*\/operations\/[\w.-]+$/.test(name) ? name : null);
}

/** `done` has a video, an error, or only filtered videos, which is a failure (both APIs). */
function stateOf(operation: JsonObject): VideoState {
  if (textOf(operation["name"]) === null) throw invalidAnswer();
  if (operation["done"] !== true) return videoState({ state: "running" });
  if (isObject(operation["error"])) {
    const { code, message } = operation["error"];
    return videoState({ state: "failed", error: taskError(code, message) });
  }
  const response = objectOf(operation["response"]);
  const result = isObject(response["generateVideoResponse"]) ? response["generateVideoResponse"] : response;
  const videoUrl = videoOf(result);
  if (videoUrl !== null) return videoState({ state: "succeeded", videoUrl });
  const filtered = numberOf(result["raiMediaFilteredCount"]) ?? 0;
  if (filtered === 0) throw invalidAnswer();
  const reasons = arrayOf(result["raiMediaFilteredReasons"]).filter((reason) => typeof reason === "string");
  const message = reasons.length === 0 ? "The upstream's filter blocked the video." : reasons.join(" ");
  return videoState({ state: "failed", error: taskError("content_filtered", message) });
}

function videoOf(result: JsonObject): string | null {
  const sample = objectOf(objectOf(arrayOf(result["generatedSamples"])[0])["video"]);
  const video = objectOf(arrayOf(result["videos"])[0]);
  const bytes = textOf(sample["encodedVideo"]) ?? textOf(video["bytesBase64Encoded"]);
  const type = textOf(sample["encoding"]) ?? textOf(video["mimeType"]) ?? "video/mp4";
  const stored = textOf(video["gcsUri"]);
  if (stored?.startsWith("gs://") === true) return stored;
  return webUrl(sample["uri"]) ?? (bytes === null ? null : `data:${type};base64,${bytes}`);
}
