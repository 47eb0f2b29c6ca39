import { unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf } from "#protocols/index.ts";
import { settingText } from "../settings.ts";
import type { GoodAnswer, VideoAdapter, VideoState } from "../video-adapter.ts";
import {
  answerObject,
  createdId,
  createdObject,
  elsewhere,
  goneBy404,
  noAnswer,
  taskError,
  videoState,
  webUrl,
} from "./answers.ts";
import { type Material, materialOf, readDataUri, refuseReferences } from "./material.ts";
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

/** What both APIs have in common. The longest that its models make (K) is eight seconds. */
const both = {
  readCreated: readVeoName,
  readState: (answer: GoodAnswer) => stateOf(answerObject(answer)),
  saysGone: goneBy404((refusal) => objectOf(refusal["error"])["status"] === "NOT_FOUND"),
  usualSeconds: 8,
  materialAs: "data",
} as const;

/**
 * Veo by the Gemini API (Google's SDK; K = general knowledge). Seed and sound are Vertex' alone. There is no state before
 * `done`, and no cancelling (K). A download needs the key and is redirected; files are kept two days (K).
 */
export function veoVideo(rootOf: RootOf): VideoAdapter {
  return {
    ...both,
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
    // The key goes where the account's key belongs, whatever host an answer names: only the file's name is taken.
    content: (provider, url) => {
      const [, file] = /^https?:\/\/[^/]+\/.*?(files\/[\w-][\w.-]*:download)\?alt=media$/.exec(url) ?? [];
      if (file === undefined) throw elsewhere();
      return videoDraft(provider, `${rootOf(provider)}/${file}?alt=media`, { headers: { accept: "*/*" } });
    },
    keepsSeconds: 172_800,
  };
}

/**
 * Veo on Google Cloud. Without a bucket (`settings.storage_uri`, `gs://…`) the whole video would come inside each answer
 * to a poll, as base64; so one is asked for. The bytes are read from it with the account's token.
 */
export function veoOnVertex(rootOf: RootOf): VideoAdapter {
  return {
    ...both,
    capabilities: (upstreamModel) => ({ ...veoCapabilities(upstreamModel), seed: true }),
    create: ({ provider, upstreamModel, turn }) => {
      const storageUri = settingText(provider, "storage_uri");
      if (storageUri === null) {
        throw unsupported("model", "The provider needs settings.storage_uri, a bucket for its videos.");
      }
      if (isSilent(upstreamModel)) refuseSound(turn);
      const also = {
        seed: seedOf(turn),
        // Veo 2 does not know the member (K).
        generateAudio: isSilent(upstreamModel) ? undefined : (turn.audio ?? undefined),
        storageUri,
      };
      const url = `${modelUrl(rootOf(provider), upstreamModel)}:predictLongRunning`;
      return videoDraft(provider, url, { json: veoBody(turn, also) });
    },
    poll: (provider, upstreamModel, upstreamId) => {
      const url = `${modelUrl(rootOf(provider), upstreamModel)}:fetchPredictOperation`;
      return videoDraft(provider, url, { json: { operationName: upstreamId } });
    },
    content: (provider, url) => {
      const [, bucket = "", object = ""] = /^gs:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
      if (bucket === "") throw elsewhere();
      const path = `b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(object)}`;
      const stored = `https://storage.googleapis.com/storage/v1/${path}?alt=media`;
      return videoDraft(provider, stored, { headers: { accept: "*/*" } });
    },
  };
}

function modelUrl(root: string, upstreamModel: string): string {
  return `${root}/publishers/google/models/${encodeURIComponent(upstreamModel)}`;
}

/** 1080p wants eight seconds on Veo 3 (K), which is left to the vendor to say. */
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

/** Sound came with Veo 3 (K). */
function isSilent(upstreamModel: string): boolean {
  return /veo-2/.test(upstreamModel);
}

/** What goes beside it in `parameters` is the caller's own first, then ours. */
function veoBody(turn: VideoTurn, also: JsonObject): object {
  refuseWatermark(turn);
  const material = materialOf(turn);
  refuseReferences([...material.videos, ...material.audios], "videos or sounds as references");
  const own = objectOf(arrayOf(turn.more["instances"])[0]);
  const ours = present({
    aspectRatio: turn.ratio,
    resolution: turn.resolution,
    durationSeconds: turn.durationSeconds,
    ...also,
  });
  return {
    instances: [{ ...own, ...(turn.prompt === null ? {} : { prompt: turn.prompt }), ...pictures(material) }],
    parameters: { ...membersFor(turn.more, "parameters", (member) => member !== "instances"), ...ours },
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
  if (inline === null) throw unsupported(param, "This model takes pictures as `data:` URIs in base64 only.");
  return { bytesBase64Encoded: inline.base64, mimeType: inline.contentType };
}

/** An operation's name is a path of its own; it is held to the form that keeps it below the API. */
function readVeoName(answer: GoodAnswer): { readonly upstreamId: string } {
  const { name } = createdObject(answer);
  return createdId(typeof name === "string" && /^[\w][\w.:@/-]*\/operations\/[\w.-]+$/.test(name) ? name : null);
}

/** `done` comes with a video, with an error, or with everything filtered out; the last is no success (both APIs). */
function stateOf(operation: JsonObject): VideoState {
  if (textOf(operation["name"]) === null) throw noAnswer();
  if (operation["done"] !== true) return videoState({ state: "running" });
  if (isObject(operation["error"])) {
    const { code, message } = operation["error"];
    return videoState({ state: "failed", error: taskError(code, message) });
  }
  const response = objectOf(operation["response"]);
  const said = isObject(response["generateVideoResponse"]) ? response["generateVideoResponse"] : response;
  const videoUrl = videoOf(said);
  if (videoUrl !== null) return videoState({ state: "succeeded", videoUrl });
  const filtered = numberOf(said["raiMediaFilteredCount"]) ?? 0;
  if (filtered === 0) throw noAnswer();
  const reasons = arrayOf(said["raiMediaFilteredReasons"]).filter((reason) => typeof reason === "string");
  const message = reasons.length === 0 ? "The upstream's filter held the video back." : reasons.join(" ");
  return videoState({ state: "failed", error: taskError("content_filtered", message) });
}

function videoOf(said: JsonObject): string | null {
  const sample = objectOf(objectOf(arrayOf(said["generatedSamples"])[0])["video"]);
  const video = objectOf(arrayOf(said["videos"])[0]);
  const bytes = textOf(sample["encodedVideo"]) ?? textOf(video["bytesBase64Encoded"]);
  const type = textOf(sample["encoding"]) ?? textOf(video["mimeType"]) ?? "video/mp4";
  const stored = textOf(video["gcsUri"]);
  if (stored?.startsWith("gs://") === true) return stored;
  return webUrl(sample["uri"]) ?? (bytes === null ? null : `data:${type};base64,${bytes}`);
}
