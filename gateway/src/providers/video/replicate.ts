import { type Provider, unknownCapabilities } from "#core/index.ts";
import { isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { refusalObject } from "../classify-by-status.ts";
import { classifyOpenAiShaped } from "../openai-shaped.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, ListedTask, VideoAdapter, VideoState } from "../video-adapter.ts";
import { answerObject, callbackId, createdId, createdObject, noAnswer } from "./answer.ts";
import { type Material, materialOf, refuseReferences } from "./material.ts";
import { pollRefusals } from "./poll-refusal.ts";
import { membersFor, present } from "./present.ts";
import { refuseWatermark, seedOf, unsupported } from "./unsupported.ts";
import { plainRoot, videoDraft } from "./video-draft.ts";
import { rawUsageOf, type StateWords, stateIn, taskError, timeOf, videoState, webUrl } from "./video-state.ts";

/** Files of API predictions are gone after an hour (K). */
const keepsSeconds = 3_600;

/**
 * Replicate (replicate@1.4.0; K = general knowledge). A model is `owner/name`, or a version: 64 hexadecimal digits, alone
 * or behind `owner/name:`. The input's names are each model's own: ours are those that most video models share (K), and a
 * caller's own members stand beside them. What is paid for is machine time or the model's own unit, not told here.
 */
export const replicateVideo: VideoAdapter = {
  capabilities: () => unknownCapabilities,
  create: createDraft,
  readCreated: (answer) => createdId(createdObject(answer)["id"]),
  poll: (provider, upstreamModel, upstreamId) =>
    videoDraft({ provider, upstreamModel, url: predictionUrl(provider, upstreamId) }),
  readState: (answer) => stateOf(answerObject(answer)),
  classifyPoll: pollRefusals(classifyOpenAiShaped, (answer) => refusalObject(answer.body)["status"] === 404),
  cancel: (provider, upstreamModel, upstreamId) =>
    videoDraft({ provider, upstreamModel, method: "POST", url: `${predictionUrl(provider, upstreamId)}/cancel` }),
  list: (provider, upstreamModel) => videoDraft({ provider, upstreamModel, url: `${plainRoot(provider)}/predictions` }),
  // Newest first, a hundred (K).
  readList: (answer) => {
    const { results } = answerObject(answer);
    if (!Array.isArray(results)) throw noAnswer();
    return results.flatMap(listed);
  },
  readCallback: (body) => callbackId(body, "id"),
  keepsSeconds,
};

function createDraft({ provider, upstreamModel, turn, callbackUrl }: CreateInput): OutboundDraft {
  refuseWatermark(turn);
  const { path, version } = placeOf(upstreamModel);
  const json = present({
    version,
    ...Object.fromEntries(Object.entries(turn.more).filter(([member]) => outside.has(member))),
    input: {
      ...membersFor(turn.more, "input", (member) => !outside.has(member)),
      ...present({
        prompt: turn.prompt,
        aspect_ratio: turn.ratio,
        resolution: turn.resolution,
        duration: turn.durationSeconds,
        seed: seedOf(turn),
        generate_audio: turn.audio,
        ...materialIn(materialOf(turn), upstreamModel),
      }),
    },
    webhook: callbackUrl,
    webhook_events_filter: callbackUrl === null ? null : ["completed"],
  });
  return videoDraft({ provider, upstreamModel, method: "POST", url: `${plainRoot(provider)}${path}`, json });
}

/** What stands beside the input. */
const outside: ReadonlySet<string> = new Set(["webhook", "webhook_events_filter", "stream"]);

function placeOf(upstreamModel: string): { path: string; version: string | null } {
  const version = /^(?:[\w.-]+\/[\w.-]+:)?([0-9a-f]{64})$/.exec(upstreamModel)?.[1] ?? null;
  if (version !== null) return { path: "/predictions", version };
  const [owner = "", name = "", more] = upstreamModel.split("/");
  if (owner === "" || name === "" || more !== undefined) {
    throw unsupported("model", "A model of Replicate is named owner/name, or is a version.");
  }
  return { path: `/models/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/predictions`, version: null };
}

/** Frames have three pairs of names among the well-known models, references one (K). */
function materialIn({ first, last, images, videos, audios }: Material, upstreamModel: string): JsonObject {
  const [firstName, lastName] = /kling|vidu/i.test(upstreamModel)
    ? ["start_image", "end_image"]
    : /minimax|hailuo/i.test(upstreamModel)
      ? ["first_frame_image", "last_frame_image"]
      : ["image", "last_frame_image"];
  if (!upstreamModel.includes("seedance-2")) refuseReferences([...videos, ...audios], "videos or sounds as references");
  return {
    [firstName]: first,
    [lastName]: last,
    reference_images: images.length === 0 ? null : images,
    reference_videos: videos.length === 0 ? null : videos,
    reference_audios: audios.length === 0 ? null : audios,
  };
}

function predictionUrl(provider: Provider, id: string): string {
  return `${plainRoot(provider)}/predictions/${encodeURIComponent(id)}`;
}

function stateOf(prediction: JsonObject): VideoState {
  if (textOf(prediction["status"]) === null) throw noAnswer();
  const state = stateIn(words, prediction["status"]);
  const videoUrl = videoIn(prediction["output"]);
  if (state === "succeeded" && videoUrl === null) throw noAnswer();
  const { error, metrics } = prediction;
  const completedAt = timeOf(prediction["completed_at"]);
  const done = state === "succeeded";
  return videoState({
    state,
    videoUrl: done ? videoUrl : null,
    expiresAt: done && completedAt !== null ? Math.floor(completedAt / 1_000) + keepsSeconds : null,
    error: state === "failed" ? taskError(null, isObject(error) ? error["message"] : error) : null,
    rawUsage: done ? rawUsageOf(metrics) : null,
    startedAt: timeOf(prediction["started_at"]),
  });
}

/** An address, a list of them, or an object that has one: what a model gives is its own affair. */
function videoIn(output: unknown): string | null {
  if (typeof output === "string") return webUrl(output);
  if (Array.isArray(output)) return firstOf(output);
  if (!isObject(output)) return null;
  return videoIn(output["video"] ?? output["url"]) ?? firstOf(Object.values(output));
}

function firstOf(values: readonly unknown[]): string | null {
  for (const value of values) {
    const url = webUrl(value) ?? webUrl(objectOf(value)["url"]);
    if (url !== null) return url;
  }
  return null;
}

function listed(item: unknown): ListedTask[] {
  const prediction = objectOf(item);
  const upstreamId = textOf(prediction["id"]);
  if (upstreamId === null) return [];
  return [
    {
      upstreamId,
      taskId: null,
      upstreamModel: textOf(prediction["model"]),
      prompt: textOf(objectOf(prediction["input"])["prompt"]),
      createdAt: timeOf(prediction["created_at"]),
    },
  ];
}

/** aborted: its deadline passed before it began. */
const words: StateWords = new Map([
  ["starting", "queued"],
  ["processing", "running"],
  ["succeeded", "succeeded"],
  ["failed", "failed"],
  ["canceled", "cancelled"],
  ["aborted", "expired"],
]);
