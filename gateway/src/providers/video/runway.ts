import { unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, isObject, type JsonObject } from "#protocols/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, VideoAdapter } from "../video-adapter.ts";
import { answerObject, createdIdIn, goneBy404, rawUsageOf, taskState } from "./answers.ts";
import { type Material, materialOf, refuseReferences } from "./material.ts";
import {
  createTaskDraft,
  plainRoot,
  refuseSound,
  refuseWatermark,
  seedOf,
  taskDrafts,
  unsupported,
} from "./requests.ts";

const task = taskDrafts(plainRoot, "/v1/tasks");

/** Runway (@runwayml/sdk@4.20.1; K = general knowledge). Ratios are in pixels. It bills credits. Links are valid for one to two days. */
export const runwayVideo: VideoAdapter = {
  capabilities: (upstreamModel): VideoCapabilities => ({
    ...unknownCapabilities,
    audio: makesSound(upstreamModel) ? null : false,
    seed: true,
  }),
  create: createDraft,
  readCreated: createdIdIn("id"),
  poll: task(),
  readState: (answer) => {
    const { status, progress: share, output, failure, failureCode, cost } = answerObject(answer);
    const progress = typeof share === "number" && share >= 0 && share <= 1 ? Math.round(share * 100) : null;
    return taskState(words, {
      status: status,
      video: arrayOf(output)[0],
      error: [failureCode, failure],
      always: { progress, rawUsage: isObject(cost) ? rawUsageOf({ cost }) : null },
    });
  },
  reportsGone: goneBy404((refusal) => "error" in refusal),
  // One call cancels an open task and deletes an ended one.
  cancel: task("", { method: "DELETE" }),
  remove: task("", { method: "DELETE" }),
  keepsSeconds: 86_400,
};

function createDraft(input: CreateInput): OutboundDraft {
  const { provider, upstreamModel, turn } = input;
  refuseWatermark(turn);
  if (!makesSound(upstreamModel)) refuseSound(turn);
  const material = materialOf(turn);
  refuseReferences(material.audios, "sounds as references");
  const { path, members } = endpointFor(material);
  return createTaskDraft(input, `${plainRoot(provider)}/v1/${path}`, {
    model: upstreamModel,
    promptText: turn.prompt,
    ratio: pixelsOf(turn),
    duration: turn.durationSeconds,
    seed: seedOf(turn),
    audio: makesSound(upstreamModel) ? turn.audio : null, // K
    ...members,
  });
}

/** Only Google's models have audio (K). */
function makesSound(upstreamModel: string): boolean {
  return upstreamModel.startsWith("veo3");
}

function endpointFor({ first, last, images, videos }: Material): { path: string; members: JsonObject } {
  if (videos.length > 1) throw unsupported("references", "This model supports one reference video.");
  const video = videos[0];
  if (video !== undefined) {
    if (first !== null || last !== null)
      throw unsupported("image", "This model supports either a video or frames, not both.");
    const references = images.map((uri) => ({ type: "image", uri }));
    return { path: "video_to_video", members: { videoUri: video, ...(images.length === 0 ? {} : { references }) } };
  }
  refuseReferences(images, "pictures as references without a video");
  if (first === null && last === null) return { path: "text_to_video", members: {} };
  const promptImage = [
    ...(first === null ? [] : [{ uri: first, position: "first" }]),
    ...(last === null ? [] : [{ uri: last, position: "last" }]),
  ];
  return { path: "image_to_video", members: { promptImage: last === null ? first : promptImage } };
}

/** Accepts the vendor's ratios in pixels. */
function pixelsOf({ ratio, resolution }: VideoTurn): string | null {
  if (ratio === null && resolution === null) return null;
  if (ratio !== null && /^\d{3,4}:\d{3,4}$/.test(ratio)) return ratio;
  const pixels = shapes[resolution ?? "720p"]?.[ratio ?? "16:9"];
  if (pixels !== undefined) return pixels;
  throw unsupported(
    resolution !== null && shapes[resolution] === undefined ? "resolution" : "ratio",
    "This model takes 16:9, 9:16, 4:3, 3:4, 1:1 and 21:9 at 720p, 16:9 and 9:16 at 1080p, or a ratio in pixels.",
  );
}

/** From the vendor's own refusals for gen4 models; 1080p is for others (M). */
const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "720p": {
    "16:9": "1280:720",
    "9:16": "720:1280",
    "4:3": "1104:832",
    "3:4": "832:1104",
    "1:1": "960:960",
    "21:9": "1584:672",
  },
  "1080p": { "16:9": "1920:1080", "9:16": "1080:1920" },
};

/** THROTTLED: queued by the account's concurrency limit. */
const words = {
  PENDING: "queued",
  THROTTLED: "queued",
  RUNNING: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  CANCELLED: "cancelled",
} as const;
