import { unknownCapabilities } from "#core/index.ts";
import { isObject, type JsonObject, objectOf } from "#protocols/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, VideoAdapter } from "../video-adapter.ts";
import {
  answerObject,
  callbackIdIn,
  createdIdIn,
  goneBy404,
  listedTasks,
  rawUsageOf,
  taskState,
  timeOf,
  webUrl,
} from "./answers.ts";
import { type Material, materialOf, refuseNonImages } from "./material.ts";
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

/** Files are deleted after an hour (K). */
const keepsSeconds = 3_600;

/**
 * Replicate (replicate@1.4.0; K = general knowledge). A model is `owner/name`, or a version of 64 hexadecimal digits,
 * optionally after `owner/name:`. The input has the model's own fields: ours use the most common names (K), next to the
 * caller's own. The billed machine time is not reported.
 */
export const replicateVideo: VideoAdapter = {
  capabilities: () => unknownCapabilities,
  create: createDraft,
  readCreated: createdIdIn("id"),
  poll: prediction(),
  readState: (answer) => {
    const { status, output, error, metrics, started_at, completed_at } = answerObject(answer);
    const completedAt = timeOf(completed_at);
    return taskState(words, {
      status: status,
      video: videoIn(output),
      error: [null, isObject(error) ? error["message"] : error],
      onSuccess: {
        expiresAt: completedAt === null ? null : Math.floor(completedAt / 1_000) + keepsSeconds,
        rawUsage: rawUsageOf(metrics),
      },
      always: { startedAt: timeOf(started_at) },
    });
  },
  reportsGone: goneBy404(({ status }) => status === 404),
  cancel: prediction("/cancel", { method: "POST" }),
  list: (provider) => videoDraft(provider, `${plainRoot(provider)}/predictions`),
  // Newest first, a hundred (K).
  readList: (answer) => listedTasks(answer, "results", ({ input }) => ({ prompt: objectOf(input)["prompt"] ?? null })),
  readCallback: callbackIdIn("id"),
  keepsSeconds,
};

function createDraft({ provider, upstreamModel, turn, callbackUrl }: CreateInput): OutboundDraft {
  refuseWatermark(turn);
  const { path, version } = endpointOf(upstreamModel);
  const json = present({
    version,
    ...Object.fromEntries(Object.entries(turn.vendorFields).filter(([member]) => topLevelFields.has(member))),
    input: {
      ...membersFor(turn.vendorFields, "input", (member) => !topLevelFields.has(member)),
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

const topLevelFields: ReadonlySet<string> = new Set(["webhook", "webhook_events_filter", "stream"]);

function endpointOf(upstreamModel: string): { path: string; version: string | null } {
  const version = /^(?:[\w.-]+\/[\w.-]+:)?([0-9a-f]{64})$/.exec(upstreamModel)?.[1] ?? null;
  if (version !== null) return { path: "/predictions", version };
  const [owner = "", name = "", more] = upstreamModel.split("/");
  if (owner === "" || name === "" || more !== undefined) {
    throw unsupported("model", "A model of Replicate is named owner/name, or is a version.");
  }
  return { path: `/models/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/predictions`, version: null };
}

/** Three naming schemes for frames, one for references (K). */
function materialIn({ first, last, images, videos, audios }: Material, upstreamModel: string): JsonObject {
  const [firstName, lastName] = /kling|vidu/i.test(upstreamModel)
    ? ["start_image", "end_image"]
    : /minimax|hailuo/i.test(upstreamModel)
      ? ["first_frame_image", "last_frame_image"]
      : ["image", "last_frame_image"];
  if (!upstreamModel.includes("seedance-2")) refuseNonImages({ videos, audios });
  return {
    [firstName]: first,
    [lastName]: last,
    reference_images: images.length === 0 ? null : images,
    reference_videos: videos.length === 0 ? null : videos,
    reference_audios: audios.length === 0 ? null : audios,
  };
}

/** The output is a URL, a list, or an object with one. */
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

/** aborted: not started before its deadline. */
const words = {
  starting: "queued",
  processing: "running",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "cancelled",
  aborted: "expired",
} as const;
