import { unknownCapabilities } from "#core/index.ts";
import { isObject, type JsonObject, objectOf } from "#protocols/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, VideoAdapter } from "../video-adapter.ts";
import {
  answerObject,
  calledBackIn,
  createdIn,
  goneBy404,
  listedTasks,
  rawUsageOf,
  taskState,
  timeOf,
  webUrl,
} from "./answers.ts";
import { type Material, materialOf, refuseReferences } from "./material.ts";
import {
  membersFor,
  plainRoot,
  present,
  refuseWatermark,
  seedOf,
  taskDrafts,
  unsupported,
  videoDraft,
} from "./requests.ts";

const prediction = taskDrafts(plainRoot, "/predictions");

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
  readCreated: createdIn("id"),
  poll: prediction(),
  readState: (answer) => {
    const { status, output, error, metrics, started_at, completed_at } = answerObject(answer);
    const completedAt = timeOf(completed_at);
    return taskState(words, {
      word: status,
      video: videoIn(output),
      error: [null, isObject(error) ? error["message"] : error],
      made: {
        expiresAt: completedAt === null ? null : Math.floor(completedAt / 1_000) + keepsSeconds,
        rawUsage: rawUsageOf(metrics),
      },
      always: { startedAt: timeOf(started_at) },
    });
  },
  saysGone: goneBy404(({ status }) => status === 404),
  cancel: prediction("/cancel", { method: "POST" }),
  list: (provider) => videoDraft(provider, `${plainRoot(provider)}/predictions`),
  // Newest first, a hundred (K).
  readList: (answer) => listedTasks(answer, "results", ({ input }) => ({ prompt: objectOf(input)["prompt"] ?? null })),
  readCallback: calledBackIn("id"),
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
  return videoDraft(provider, `${plainRoot(provider)}${path}`, { json });
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

/** aborted: its deadline passed before it began. */
const words = {
  starting: "queued",
  processing: "running",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "cancelled",
  aborted: "expired",
} as const;
