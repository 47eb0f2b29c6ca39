import {
  noUsage,
  type Provider,
  type Usage,
  unknownCapabilities,
  type VideoCapabilities,
  type VideoMaterial,
} from "#core/index.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf } from "#protocols/index.ts";
import type { CreateInput, VideoAdapter, VideoState } from "../video-adapter.ts";
import {
  answerObject,
  callbackIdIn,
  createdIdIn,
  goneBy404,
  hasErrorObject,
  listedTasks,
  rawUsageOf,
  secondsUsage,
  taskState,
  webUrl,
} from "./answers.ts";
import { plainRoot, present, refuseSound, taskDrafts, videoDraft } from "./requests.ts";

const tasksPath = "/contents/generations/tasks";

/** Links are signed for a day (vendor's CLI); tasks are kept for seven (several third parties). */
const keepsSeconds = 86_400;
/** The largest page (general knowledge). */
const listedMax = 500;

interface ArkOptions {
  readonly marks?: true;
  /** Validates result URLs. */
  readonly addressOf?: typeof webUrl;
}

/**
 * Seedance on Ark (V = read in the vendor's SDKs or CLI, M = several third parties, U = unverified). There is no
 * idempotency key and no client reference (V). `settings.mark_tasks` sends our task id as `safety_identifier`, which the
 * vendor returns (V; support by every model is U), to find tasks with a lost answer.
 */
export function arkVideo(options: ArkOptions): VideoAdapter {
  const tasksUrl = (provider: Provider): string => plainRoot(provider) + tasksPath;
  const task = taskDrafts(plainRoot, tasksPath);
  return {
    capabilities: arkCapabilities,
    // Flags at the end of a prompt, for models before 2.0 (M).
    paidWords: [
      { pattern: /(?:^|\s)--(?:resolution|rs)\s+(\S+)/i, instead: "resolution" },
      { pattern: /(?:^|\s)--(?:duration|dur)\s+(\S+)/i, instead: "duration" },
      { pattern: /(?:^|\s)--frames\s+(\S+)/i, instead: "duration" },
    ],
    create: (input) => {
      const { provider } = input;
      const marks = options.marks === true || provider.settings["mark_tasks"] === true;
      return videoDraft(provider, tasksUrl(provider), { json: bodyOf(input, marks) });
    },
    readCreated: createdIdIn("id"),
    poll: task(),
    readState: (answer) => stateOf(answerObject(answer), options.addressOf ?? webUrl),
    reportsGone: goneBy404(hasErrorObject),
    // Cancels a queued task, refuses for a running one, deletes a finished one (M).
    cancel: task("", { method: "DELETE" }),
    remove: task("", { method: "DELETE" }),
    // Not filtered by model, because lists may use the endpoint's id or the model's (U).
    list: (provider) => videoDraft(provider, `${tasksUrl(provider)}?page_num=1&page_size=${listedMax}`),
    readList: (answer) =>
      listedTasks(answer, "items", (task) => {
        const text = arrayOf(task["content"])
          .map(objectOf)
          .find(({ type }) => type === "text");
        return { prompt: text?.["text"] ?? null, mark: task["safety_identifier"] };
      }),
    // The same body as a poll (M), unsigned (U).
    readCallback: callbackIdIn("id"),
    keepsSeconds,
  };
}

function bodyOf({ upstreamModel, turn, taskId, callbackUrl }: CreateInput, marks: boolean): object {
  const silent = arkCapabilities(upstreamModel).audio === false;
  if (silent) refuseSound(turn);
  return {
    ...(marks ? { safety_identifier: taskId } : {}),
    ...turn.vendorFields,
    model: upstreamModel,
    content: contentOf(turn.prompt, turn.content ?? [], turn.material),
    ...present({
      resolution: turn.resolution,
      ratio: turn.ratio,
      duration: turn.durationSeconds,
      seed: turn.seed,
      watermark: turn.watermark,
      // Silent models may refuse the field (M/U).
      generate_audio: silent ? null : turn.audio,
      return_last_frame: turn.wantsLastFrame ? true : null,
      callback_url: callbackUrl,
    }),
  };
}

/** The prompt (unless the caller's array has text), then the caller's array, then material. */
function contentOf(prompt: string | null, own: readonly unknown[], material: readonly VideoMaterial[]): unknown[] {
  const hasText = own.some((item) => objectOf(item)["type"] === "text");
  const text = prompt === null || hasText ? [] : [{ type: "text", text: prompt }];
  return [...text, ...own, ...material.map(contentItem)];
}

function contentItem({ role, type, url }: VideoMaterial): object {
  const member = `${type}_url`;
  // Clients also send Asset://, but only asset:// is common (M).
  const address = url.replace(/^asset:\/\//i, "asset://");
  return { type: member, [member]: { url: address }, role: role === "reference" ? `reference_${type}` : role };
}

function stateOf(task: JsonObject, addressOf: typeof webUrl): VideoState {
  const content = objectOf(task["content"]);
  const error = isObject(task["error"]) ? task["error"] : objectOf(task["failure_reason"]);
  const updatedAt = numberOf(task["updated_at"]);
  return taskState(words, {
    status: task["status"],
    video: content["video_url"],
    addressOf,
    error: [error["code"], error["message"]],
    onSuccess: {
      lastFrameUrl: addressOf(content["last_frame_url"]),
      expiresAt: updatedAt === null ? null : updatedAt + keepsSeconds,
    },
    always: { usage: usageOf(task), rawUsage: rawUsageOf(task["usage"]) },
  });
}

/** Ark bills tokens (V); seconds are for prices per second. */
function usageOf(task: JsonObject): Usage | null {
  const usage = objectOf(task["usage"]);
  const tokens = numberOf(usage["completion_tokens"]) ?? numberOf(usage["total_tokens"]);
  const frames = numberOf(task["frames"]);
  const rate = numberOf(task["framespersecond"]);
  const seconds = numberOf(task["duration"]) ?? (frames !== null && rate ? frames / rate : null);
  const video = task["status"] === "succeeded" ? secondsUsage(seconds) : null;
  if (tokens === null) return video;
  // Web searches are charged in addition.
  const searches = Math.max(0, Math.round(numberOf(objectOf(usage["tool_usage"])["web_search"]) ?? 0));
  return { ...(video ?? noUsage), output: Math.max(0, Math.round(tokens)), webSearches: searches };
}

/** `expired` is on the API's pages but in no SDK (M). */
const words = {
  queued: "queued",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
} as const;

/** Capabilities by model id; unknown for endpoints (`ep-…`). Uncertain values are left open. */
function arkCapabilities(upstreamModel: string): VideoCapabilities {
  return families.find(([family]) => family.test(upstreamModel))?.[1] ?? unknownCapabilities;
}

const ratios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"];

const seedance1: VideoCapabilities = {
  ...unknownCapabilities,
  // keep_ratio: older image-to-video models (M).
  ratios: [...ratios, "keep_ratio"],
  resolutions: ["480p", "720p", "1080p"],
  durationMin: 2, // M
  durationMax: 12, // M
  audio: false, // generate_audio is of 1.5 and 2.x only (V)
  seed: true,
};

const seedance2: VideoCapabilities = {
  ...unknownCapabilities,
  ratios,
  resolutions: ["480p", "720p", "1080p", "4k"], // 4k on the standard model only (M)
  // -1: the model decides (M).
  durations: [-1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  audio: true,
  firstFrame: true,
  lastFrame: true,
  referencesMax: 15, // 9 images, 3 videos, 3 audios (V, from the vendor's solution architects)
  seed: true, // sources disagree: one lists it, another calls it ignored
};

const families: readonly (readonly [RegExp, VideoCapabilities])[] = [
  [/seedance-1-0-lite-t2v/, { ...seedance1, firstFrame: false, lastFrame: false, referencesMax: 0 }],
  [/seedance-1-0-lite-i2v/, { ...seedance1, firstFrame: true, lastFrame: true, referencesMax: 4 }], // M
  [/seedance-1-0/, { ...seedance1, firstFrame: true }],
  [
    /seedance-1-5/,
    {
      ...seedance1,
      ratios,
      durationMin: 4, // U exact
      audio: true,
      firstFrame: true,
      lastFrame: true,
    },
  ],
  [/seedance-2-0-(fast|mini)/, { ...seedance2, resolutions: ["480p", "720p"] }], // M
  [/seedance-2-0/, seedance2],
  // Up to 30 seconds or -1, resolutions unknown; 30 images, 10 videos, 10 audios (M).
  [/seedance-2-5/, { ...seedance2, resolutions: [], durations: [-1], durationMax: 30, referencesMax: 50 }],
];
