import { type Provider, unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import {
  isObject,
  type JsonObject,
  minimaxPlanUsedUp,
  minimaxStatus,
  numberOf,
  objectOf,
  textOf,
} from "#protocols/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, GoodAnswer, VideoAdapter, VideoState } from "../video-adapter.ts";
import {
  answerObject,
  createdId,
  createdObject,
  invalidAnswer,
  refusalInside,
  stateIn,
  taskError,
  videoState,
  webUrl,
} from "./answers.ts";
import { type Material, materialOf, refuseNonImages } from "./material.ts";
import {
  createTaskDraft,
  plainRoot,
  refuseRatio,
  refuseSeed,
  refuseSound,
  seedOf,
  unsupported,
  videoDraft,
} from "./requests.ts";

/**
 * Hailuo (V = vendor's OpenAPI, K = general knowledge, U = unverified). v1 (V) needs a second request for the file's URL,
 * which is valid for an hour (K). v2, for H3 and Hailuo-03, is V for polls and U for creation. No callbacks: they need a
 * challenge first (K). Refusals have status 200.
 */
export const minimaxVideo: VideoAdapter = {
  capabilities: (upstreamModel): VideoCapabilities => {
    if (isV2(upstreamModel)) return { ...unknownCapabilities, durationMin: 4, durationMax: 15 };
    if (!/hailuo|[TIS]2V-/i.test(upstreamModel)) return { ...unknownCapabilities, audio: false, seed: false };
    return {
      ...unknownCapabilities,
      ratios: ["16:9"], // no field: text gives 16:9 (K), a picture keeps its shape
      resolutions: ["512p", "720p", "768p", "1080p"], // 720p on the models before Hailuo-02 (K)
      durations: [6, 10],
      audio: false,
      seed: false,
    };
  },
  create: createDraft,
  readCreated: (answer) => {
    const created = createdObject(answer);
    throwRefusal(created, answer);
    return createdId(created["task_id"] ?? objectOf(created["task"])["id"]);
  },
  poll: (provider, upstreamModel, upstreamId) => {
    const id = encodeURIComponent(upstreamId);
    const path = isV2(upstreamModel) ? `video_generation/${id}` : `video_generation?task_id=${id}`;
    return videoDraft(provider, `${versionedRoot(provider, upstreamModel)}/query/${path}`);
  },
  readState,
  readNext: (answer, before) => {
    const retrieved = answerObject(answer);
    throwRefusal(retrieved, answer);
    const videoUrl = webUrl(objectOf(retrieved["file"])["download_url"]);
    if (videoUrl === null) throw invalidAnswer();
    return { ...before, state: "succeeded", videoUrl, next: null };
  },
  keepsSeconds: 3_600,
  // The shorter of the two lengths of v1 (K).
  usualSeconds: 6,
};

function createDraft(input: CreateInput): OutboundDraft {
  const { provider, upstreamModel, turn } = input;
  const v2 = isV2(upstreamModel);
  const material = materialOf(turn);
  refuseNonImages(material);
  if (!v2) refuseV2Fields(turn, material);
  return createTaskDraft(input, `${versionedRoot(provider, upstreamModel)}/video_generation`, {
    model: upstreamModel,
    prompt: turn.prompt,
    duration: turn.durationSeconds,
    resolution: turn.resolution?.toUpperCase(),
    aigc_watermark: turn.watermark,
    first_frame_image: material.first,
    last_frame_image: material.last,
    subject_reference: material.images.length === 0 ? null : [{ type: "character", image: material.images }],
    // v2 is unconfirmed: fields that v1 lacks use the common names (U).
    ...(v2 ? { ratio: turn.ratio, seed: seedOf(turn), audio: turn.audio } : {}),
  });
}

function refuseV2Fields(turn: VideoTurn, { first, last, images }: Material): void {
  refuseSeed(turn);
  refuseSound(turn);
  if (first !== null || last !== null) refuseRatio(turn);
  else if (turn.ratio !== null && turn.ratio !== "16:9") {
    throw unsupported("ratio", "This model makes 16:9 from text; a picture sets its own ratio.");
  }
  if (images.length > 1) throw unsupported("references", "This model supports one reference picture.");
}

function isV2(upstreamModel: string): boolean {
  return /MiniMax-H[3-9]|Hailuo-0[3-9]/i.test(upstreamModel);
}

function versionedRoot(provider: Provider, upstreamModel: string): string {
  const root = plainRoot(provider);
  return isV2(upstreamModel) ? root.replace(/\/v1$/, "/v2") : root;
}

function readState(answer: GoodAnswer, provider: Provider): VideoState {
  const shown = answerObject(answer);
  const task = isObject(shown["task"]) ? shown["task"] : shown;
  const word = textOf(task["status"]);
  const state = stateIn(words, word?.toLowerCase());
  if (state === "failed") return videoState({ state, error: failureOf(shown, task) });
  throwRefusal(shown, answer);
  if (word === null) throw invalidAnswer();
  if (state !== "succeeded") return videoState({ state });
  const videoUrl = webUrl(objectOf(task["content"])["url"]);
  if (videoUrl !== null) return videoState({ state, videoUrl });
  const fileId = textOf(task["file_id"]) ?? numberOf(task["file_id"])?.toString() ?? "";
  if (fileId === "") throw invalidAnswer();
  const url = `${plainRoot(provider)}/files/retrieve?file_id=${encodeURIComponent(fileId)}`;
  return videoState({ state: "running", next: videoDraft(provider, url) });
}

function failureOf(shown: JsonObject, task: JsonObject): ReturnType<typeof taskError> {
  const error = objectOf(task["error"]);
  const base = objectOf(shown["base_resp"]);
  const code = numberOf(base["status_code"]);
  if (code === null || code === 0) return taskError(error["code"], error["message"]);
  return taskError(code, base["status_msg"]);
}

/** Throws Failure for a refusal in `base_resp`. */
function throwRefusal(shown: JsonObject, answer: GoodAnswer): void {
  const code = numberOf(objectOf(shown["base_resp"])["status_code"]);
  if (code === null || code === 0) return;
  throw refusalInside(answer, minimaxStatus(code) ?? 500, { quotaExhausted: code === minimaxPlanUsedUp });
}

/** Both versions, in lowercase; queued, running and cancelled of v2 are U. */
const words = {
  preparing: "queued",
  queueing: "queued",
  queued: "queued",
  processing: "running",
  running: "running",
  success: "succeeded",
  succeeded: "succeeded",
  fail: "failed",
  failed: "failed",
  cancelled: "cancelled",
} as const;
