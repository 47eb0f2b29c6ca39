import { unknownCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, type JsonObject, objectOf } from "#protocols/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, VideoAdapter } from "../video-adapter.ts";
import { answerObject, callbackIdIn, createdIdIn, listedTasks, rawUsageOf, taskState } from "./answers.ts";
import { type Material, materialOf, refuseNonImages } from "./material.ts";
import { createTaskDraft, plainRoot, refuseRatio, seedOf, taskDrafts, unsupported, videoDraft } from "./requests.ts";

const task = taskDrafts(plainRoot, "/ent/v2/tasks");

/**
 * Vidu (its pages for polls and lists; K = general knowledge, U = unverified). `payload` is returned unchanged, so it has
 * our task id. A canceled task is `failed` (K). Links are valid for a day; it bills credits.
 */
export const viduVideo: VideoAdapter = {
  capabilities: () => unknownCapabilities,
  create: createDraft,
  readCreated: createdIdIn("task_id"),
  poll: task("/creations"),
  readState: (answer) => {
    const { state, creations, credits, err_code, err_msg } = answerObject(answer);
    return taskState(words, {
      status: state,
      video: objectOf(arrayOf(creations)[0])["url"],
      error: [err_code, err_msg],
      always: { rawUsage: credits === undefined ? null : rawUsageOf({ credits }) },
    });
  },
  cancel: (provider, model, upstreamId) => task("/cancel", { json: { id: upstreamId } })(provider, model, upstreamId),
  list: (provider) => videoDraft(provider, `${plainRoot(provider)}/ent/v2/tasks`),
  // Whether lists have the payload is U; otherwise model, prompt and time match.
  readList: (answer) => listedTasks(answer, "tasks", ({ payload }) => ({ mark: payload })),
  readCallback: callbackIdIn("id"),
  keepsSeconds: 86_400,
};

function createDraft(input: CreateInput): OutboundDraft {
  const { provider, upstreamModel, turn, taskId, callbackUrl } = input;
  const material = materialOf(turn);
  refuseNonImages(material);
  const { path, members } = endpointFor(turn, material);
  return createTaskDraft(input, `${plainRoot(provider)}/ent/v2/${path}`, {
    model: upstreamModel,
    prompt: turn.prompt,
    duration: turn.durationSeconds,
    seed: seedOf(turn),
    resolution: turn.resolution,
    audio: turn.audio,
    watermark: turn.watermark,
    ...members,
    payload: taskId,
    callback_url: callbackUrl,
  });
}

function endpointFor(turn: VideoTurn, { first, last, images }: Material): { path: string; members: JsonObject } {
  const shape = { aspect_ratio: turn.ratio };
  if (images.length > 0) {
    if (first !== null || last !== null) {
      throw unsupported("references", "This model supports either references or frames, not both.");
    }
    return { path: "reference2video", members: { ...shape, images } };
  }
  if (first === null) {
    if (last !== null) throw unsupported("last_frame", "This model supports a last frame only with a first frame.");
    return { path: "text2video", members: shape };
  }
  refuseRatio(turn);
  if (last === null) return { path: "img2video", members: { images: [first] } };
  return { path: "start-end2video", members: { images: [first, last] } };
}

const words = {
  created: "queued",
  queueing: "queued",
  processing: "running",
  success: "succeeded",
  failed: "failed",
} as const;
