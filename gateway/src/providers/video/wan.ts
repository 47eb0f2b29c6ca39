import { type Failure, unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import { type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "../classify-by-status.ts";
import type { BadAnswer } from "../kind.ts";
import { classifyOpenAiShaped } from "../openai-shaped.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, VideoAdapter } from "../video-adapter.ts";
import { answerObject, createdId, createdObject, rawUsageOf, taskState } from "./answers.ts";
import { type Material, materialOf, refuseReferences } from "./material.ts";
import {
  hostRoot,
  membersFor,
  present,
  refuseRatio,
  refuseSound,
  seedOf,
  taskDrafts,
  unsupported,
  videoDraft,
} from "./requests.ts";

const task = taskDrafts(hostRoot, "/api/v1/tasks");

/**
 * Wan on DashScope (vendor's Python SDK and reference; K = general knowledge). Tasks and links are kept for a day; times
 * have no zone and are not read. The caller's vendor fields go to `input` (material) or `parameters`.
 */
export const wanVideo: VideoAdapter = {
  capabilities: (upstreamModel): VideoCapabilities => ({
    ...unknownCapabilities,
    seed: true,
    audio: isSilent(upstreamModel) ? false : null,
    ...(upstreamModel.includes("t2v") ? { firstFrame: false, lastFrame: false } : {}),
  }),
  create: createDraft,
  readCreated: (answer) => {
    const created = createdObject(answer);
    const code = textOf(created["code"]);
    if (code !== null) {
      const refusal = classifyDashscope({ status: 400, headers: answer.headers, body: answer.body, now: 0 });
      throw internalErrors.test(code) ? refusal.with({ arrival: "unknown" }) : refusal;
    }
    return createdId(objectOf(created["output"])["task_id"]);
  },
  poll: task(),
  readState: (answer) => {
    const { output: rawOutput, usage } = answerObject(answer);
    const output = objectOf(rawOutput);
    const { duration, video_duration } = objectOf(usage);
    return taskState(words, {
      status: output["task_status"],
      video: output["video_url"],
      seconds: duration ?? video_duration,
      error: [output["code"], output["message"]],
      always: { rawUsage: rawUsageOf(usage) },
    });
  },
  // Also reported for tasks older than a day and for new ones that are not replicated yet.
  reportsGone: ({ status, body }) =>
    status <= 299 && objectOf(refusalObject(body)["output"])["task_status"] === "UNKNOWN",
  // Only while queued (K).
  cancel: task("/cancel", { method: "POST" }),
  keepsSeconds: 86_400,
};

function createDraft({ provider, upstreamModel, turn }: CreateInput): OutboundDraft {
  if (isSilent(upstreamModel)) refuseSound(turn);
  const material = materialOf(turn);
  if (upstreamModel.includes("t2v") && (material.first ?? material.last) !== null) {
    throw unsupported(material.first === null ? "last_frame" : "image", "This model makes videos from text only.");
  }
  const service = upstreamModel.includes("kf2v") ? "image2video" : "video-generation";
  return videoDraft(provider, `${hostRoot(provider)}/api/v1/services/aigc/${service}/video-synthesis`, {
    // Required (K).
    headers: { "x-dashscope-async": "enable" },
    json: {
      model: upstreamModel,
      input: {
        ...membersFor(turn.vendorFields, "input", (member) => inputMembers.has(member)),
        ...present({
          prompt: turn.prompt,
          ...(usesMediaList(upstreamModel) ? mediaOf(material) : inputOf(material, upstreamModel)),
        }),
      },
      parameters: {
        ...membersFor(turn.vendorFields, "parameters", (member) => member !== "input" && !inputMembers.has(member)),
        ...present({
          ...sizeOf(turn, upstreamModel, material),
          duration: turn.durationSeconds,
          seed: seedOf(turn),
          watermark: turn.watermark,
          audio: isSilent(upstreamModel) ? null : turn.audio,
        }),
      },
    },
  });
}

const inputMembers: ReadonlySet<string> = new Set([
  "negative_prompt",
  "img_url",
  "audio_url",
  "first_frame_url",
  "last_frame_url",
  "reference_urls",
  "template",
  "media",
]);

/** Internal errors of DashScope, after which the task may exist (K). */
const internalErrors = /^(Internal|System|ServiceUnavailable|RequestTimeOut|.*Timeout)/;

/** Audio starts with 2.5 (K). */
function isSilent(upstreamModel: string): boolean {
  return /wanx?2\.[12]-/.test(upstreamModel);
}

/** From 2.7 on: one list of media, and a ratio with a resolution (vendor's pages; M). */
function usesMediaList(upstreamModel: string): boolean {
  return /wan(2\.[7-9]|[3-9])/.test(upstreamModel);
}

function mediaOf({ first, last, images, videos, audios }: Material): JsonObject {
  const media = [
    ...(first === null ? [] : [{ type: "first_frame", url: first }]),
    ...(last === null ? [] : [{ type: "last_frame", url: last }]),
    ...images.map((url) => ({ type: "reference_image", url })),
    ...videos.map((url) => ({ type: "reference_video", url })),
    // Image-to-video models name it driving_audio (M).
    ...audios.map((url) => ({ type: first === null ? "reference_audio" : "driving_audio", url })),
  ];
  return media.length === 0 ? {} : { media };
}

function inputOf({ first, last, images, videos, audios }: Material, upstreamModel: string): JsonObject {
  if (audios.length > 1) throw unsupported("references", "This model supports one sound.");
  const references = [...images, ...videos];
  if (!upstreamModel.includes("r2v")) refuseReferences(references, "references but one sound");
  const sound = audios[0] === undefined ? {} : { audio_url: audios[0] };
  const referred = references.length === 0 ? {} : { reference_urls: references };
  if (upstreamModel.includes("kf2v")) {
    return { first_frame_url: first, last_frame_url: last, ...sound };
  }
  if (last !== null) throw unsupported("last_frame", "This model does not support a last frame.");
  return { img_url: first, ...referred, ...sound };
}

/** Text-to-video needs pixels with an asterisk; with a picture only the resolution is accepted. */
function sizeOf(turn: VideoTurn, upstreamModel: string, { first, last }: Material): JsonObject {
  const { ratio, resolution } = turn;
  const lines = resolution?.toUpperCase();
  if (first !== null || last !== null) {
    refuseRatio(turn);
    return { resolution: lines };
  }
  if (usesMediaList(upstreamModel)) return { resolution: lines, ratio };
  if (ratio === null && resolution === null) return {};
  const size = sizes[resolution?.toLowerCase() ?? "720p"]?.[ratio ?? "16:9"];
  if (size !== undefined) return { size };
  const supported = Object.keys(sizes).join(", ");
  throw unsupported(
    ratio === null ? "resolution" : "ratio",
    `This model takes 16:9, 9:16 and 1:1, from 720p on 4:3 and 3:4 too, at ${supported}.`,
  );
}

/** The vendor's sizes (K). */
const sizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "480p": { "16:9": "832*480", "9:16": "480*832", "1:1": "624*624" },
  "720p": { "16:9": "1280*720", "9:16": "720*1280", "1:1": "960*960", "4:3": "1088*832", "3:4": "832*1088" },
  "1080p": { "16:9": "1920*1080", "9:16": "1080*1920", "1:1": "1440*1440", "4:3": "1632*1248", "3:4": "1248*1632" },
};

const words = {
  PENDING: "queued",
  RUNNING: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  CANCELED: "cancelled",
  CANCELLED: "cancelled",
} as const;

/** `{"code","message","request_id"}` from its own API, OpenAI's format from the compatible one. */
export function classifyDashscope(answer: BadAnswer): Failure {
  const code = textOf(refusalObject(answer.body)["code"]);
  if (code === null) return classifyOpenAiShaped(answer);
  return classifyByStatus(answer, {
    account: code === "InvalidApiKey" ? "credential" : code === "Arrearage" ? "credit" : null,
    quotaExhausted: code === "Throttling.AllocationQuota",
  });
}
