import { unknownCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus } from "../classify-by-status.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, ListedTask, VideoAdapter, VideoState } from "../video-adapter.ts";
import { answerObject, callbackId, createdId, createdObject, noAnswer } from "./answer.ts";
import { type Material, materialOf, refuseReferences } from "./material.ts";
import { present } from "./present.ts";
import { refuseRatio, seedOf, unsupported } from "./unsupported.ts";
import { plainRoot, videoDraft } from "./video-draft.ts";
import { rawUsageOf, type StateWords, stateIn, taskError, timeOf, videoState, webUrl } from "./video-state.ts";

/**
 * Vidu (its pages for looks and lists; K = general knowledge, U = unverified). `payload` comes back as it was given, so
 * our task id goes there. Cancelling makes a task `failed` (K). Links live a day; what is paid for are credits.
 */
export const viduVideo: VideoAdapter = {
  capabilities: () => unknownCapabilities,
  create: createDraft,
  readCreated: (answer) => createdId(createdObject(answer)["task_id"]),
  poll: (provider, upstreamModel, upstreamId) =>
    videoDraft({
      provider,
      upstreamModel,
      url: `${plainRoot(provider)}/ent/v2/tasks/${encodeURIComponent(upstreamId)}/creations`,
    }),
  readState: (answer) => stateOf(answerObject(answer)),
  classifyPoll: (answer) => ({ gone: false, failure: classifyByStatus(answer) }),
  cancel: (provider, upstreamModel, upstreamId) =>
    videoDraft({
      provider,
      upstreamModel,
      method: "POST",
      url: `${plainRoot(provider)}/ent/v2/tasks/${encodeURIComponent(upstreamId)}/cancel`,
      json: { id: upstreamId },
    }),
  list: (provider, upstreamModel) =>
    videoDraft({ provider, upstreamModel, url: `${plainRoot(provider)}/ent/v2/tasks` }),
  // That a list shows the payload is U; a task without it is found by its model, prompt and time.
  readList: (answer) => {
    const { tasks } = answerObject(answer);
    if (!Array.isArray(tasks)) throw noAnswer();
    return tasks.flatMap(listed);
  },
  readCallback: (body) => callbackId(body, "id"),
  keepsSeconds: 86_400,
};

function createDraft({ provider, upstreamModel, turn, taskId, callbackUrl }: CreateInput): OutboundDraft {
  const material = materialOf(turn);
  refuseReferences([...material.videos, ...material.audios], "videos or sounds as references");
  const { path, members } = wayOf(turn, material);
  const json = {
    ...turn.more,
    ...present({
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
    }),
  };
  return videoDraft({ provider, upstreamModel, method: "POST", url: `${plainRoot(provider)}/ent/v2/${path}`, json });
}

function wayOf(turn: VideoTurn, { first, last, images }: Material): { path: string; members: JsonObject } {
  const shape = { aspect_ratio: turn.ratio };
  if (images.length > 0) {
    if (first !== null || last !== null) {
      throw unsupported("references", "This model takes either references or frames.");
    }
    return { path: "reference2video", members: { ...shape, images } };
  }
  if (first === null) {
    if (last !== null) throw unsupported("last_frame", "This model takes a last frame together with a first one only.");
    return { path: "text2video", members: shape };
  }
  refuseRatio(turn);
  if (last === null) return { path: "img2video", members: { images: [first] } };
  return { path: "start-end2video", members: { images: [first, last] } };
}

function stateOf(task: JsonObject): VideoState {
  if (textOf(task["state"]) === null) throw noAnswer();
  const state = stateIn(words, task["state"]);
  const videoUrl = webUrl(objectOf(arrayOf(task["creations"])[0])["url"]);
  if (state === "succeeded" && videoUrl === null) throw noAnswer();
  const { credits } = task;
  return videoState({
    state,
    videoUrl: state === "succeeded" ? videoUrl : null,
    error: state === "failed" ? taskError(task["err_code"], task["err_msg"]) : null,
    rawUsage: credits === undefined ? null : rawUsageOf({ credits }),
  });
}

function listed(item: unknown): ListedTask[] {
  const task = objectOf(item);
  const upstreamId = textOf(task["id"]) ?? textOf(task["task_id"]);
  if (upstreamId === null) return [];
  const payload = textOf(task["payload"]);
  return [
    {
      upstreamId,
      taskId: payload?.startsWith("vt_") === true ? payload : null,
      upstreamModel: textOf(task["model"]),
      prompt: textOf(task["prompt"]),
      createdAt: timeOf(task["created_at"]),
    },
  ];
}

const words: StateWords = new Map([
  ["created", "queued"],
  ["queueing", "queued"],
  ["processing", "running"],
  ["success", "succeeded"],
  ["failed", "failed"],
]);
