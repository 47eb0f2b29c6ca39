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
  calledBackIn,
  createdIn,
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

/** Results are signed links that live a day (vendor's CLI); tasks can be asked about for seven (several third parties). */
const keepsSeconds = 86_400;
/** The largest page (from general knowledge of the vendor's page on listing). */
const listedMax = 500;

interface ArkWays {
  readonly platform?: "volcengine" | "byteplus";
  readonly marks?: true;
  /** Which addresses of results are believed; those of the web where nothing else is said. */
  readonly addressOf?: typeof webUrl;
}

/**
 * Seedance by Ark's tasks API (V = read in the vendor's SDKs or CLI, M = several third parties, U = unverified).
 * Ark knows no idempotency key and no reference of the client's (V). With `settings.mark_tasks` our task id goes along as
 * `safety_identifier`, which the vendor echoes (V; that every model takes it is U, so it is not done unasked), and a
 * task whose answer was lost is found again exactly.
 */
export function arkVideo(ways: ArkWays): VideoAdapter {
  const tasksUrl = (provider: Provider): string => plainRoot(provider) + tasksPath;
  const task = taskDrafts(plainRoot, tasksPath);
  return {
    capabilities: arkCapabilities,
    // Flags at the end of a text, which models before 2.0 obey (M).
    paidWords: [
      { pattern: /(?:^|\s)--(?:resolution|rs)\s+(\S+)/i, instead: "resolution" },
      { pattern: /(?:^|\s)--(?:duration|dur)\s+(\S+)/i, instead: "duration" },
      { pattern: /(?:^|\s)--frames\s+(\S+)/i, instead: "duration" },
    ],
    create: (input) => {
      const { provider } = input;
      const marks = ways.marks === true || provider.settings["mark_tasks"] === true;
      return videoDraft(provider, tasksUrl(provider), { json: bodyOf(input, marks) });
    },
    readCreated: createdIn("id"),
    poll: task(),
    readState: (answer) => stateOf(answerObject(answer), ways.addressOf ?? webUrl),
    saysGone: goneBy404(hasErrorObject),
    // Only a queued task is cancelled; a running one is refused, and the record of a finished one deleted (M).
    cancel: task("", { method: "DELETE" }),
    remove: task("", { method: "DELETE" }),
    // Not filtered by model: whether an endpoint's tasks are listed under its id or its model's is U.
    list: (provider) => videoDraft(provider, `${tasksUrl(provider)}?page_num=1&page_size=${listedMax}`),
    readList: (answer) =>
      listedTasks(answer, "items", (task) => {
        const text = arrayOf(task["content"])
          .map(objectOf)
          .find(({ type }) => type === "text");
        return { prompt: text?.["text"] ?? null, mark: task["safety_identifier"] };
      }),
    // The body is what a poll gives (M); nothing signs it (U).
    readCallback: calledBackIn("id"),
    keepsSeconds,
    ...(ways.platform === undefined ? {} : { platform: ways.platform }),
  };
}

function bodyOf({ upstreamModel, turn, taskId, callbackUrl }: CreateInput, marks: boolean): object {
  const silent = arkCapabilities(upstreamModel).audio === false;
  if (silent) refuseSound(turn);
  return {
    ...(marks ? { safety_identifier: taskId } : {}),
    ...turn.more,
    model: upstreamModel,
    content: contentOf(turn.prompt, turn.content ?? [], turn.material),
    ...present({
      resolution: turn.resolution,
      ratio: turn.ratio,
      duration: turn.durationSeconds,
      seed: turn.seed,
      watermark: turn.watermark,
      // Members at the top are validated strictly (M/U): a model of the silent family is not told of sound at all.
      generate_audio: silent ? null : turn.audio,
      return_last_frame: turn.wantsLastFrame ? true : null,
      callback_url: callbackUrl,
    }),
  };
}

/** The caller's own array as it is, with the prompt before it where it holds no text, and material given apart behind it. */
function contentOf(prompt: string | null, own: readonly unknown[], material: readonly VideoMaterial[]): unknown[] {
  const says = own.some((item) => objectOf(item)["type"] === "text");
  const text = prompt === null || says ? [] : [{ type: "text", text: prompt }];
  return [...text, ...own, ...material.map(contentItem)];
}

function contentItem({ role, type, url }: VideoMaterial): object {
  const member = `${type}_url`;
  // Clients write both Asset:// and asset://; only the latter is common ground (M).
  const address = url.replace(/^asset:\/\//i, "asset://");
  return { type: member, [member]: { url: address }, role: role === "reference" ? `reference_${type}` : role };
}

function stateOf(task: JsonObject, addressOf: typeof webUrl): VideoState {
  const content = objectOf(task["content"]);
  const error = isObject(task["error"]) ? task["error"] : objectOf(task["failure_reason"]);
  const updatedAt = numberOf(task["updated_at"]);
  return taskState(words, {
    word: task["status"],
    video: content["video_url"],
    addressOf,
    error: [error["code"], error["message"]],
    made: {
      lastFrameUrl: addressOf(content["last_frame_url"]),
      expiresAt: updatedAt === null ? null : updatedAt + keepsSeconds,
    },
    always: { usage: usageOf(task), rawUsage: rawUsageOf(task["usage"]) },
  });
}

/** Tokens are what Ark bills (V); the seconds, which it tells too, are for whoever has set a price for those. */
function usageOf(task: JsonObject): Usage | null {
  const told = objectOf(task["usage"]);
  const tokens = numberOf(told["completion_tokens"]) ?? numberOf(told["total_tokens"]);
  const frames = numberOf(task["frames"]);
  const rate = numberOf(task["framespersecond"]);
  const seconds = numberOf(task["duration"]) ?? (frames !== null && rate ? frames / rate : null);
  const video = task["status"] === "succeeded" ? secondsUsage(seconds) : null;
  if (tokens === null) return video;
  // Its own search of the web is told beside the tokens, and charged beside them.
  const searches = Math.max(0, Math.round(numberOf(objectOf(told["tool_usage"])["web_search"]) ?? 0));
  return { ...(video ?? noUsage), output: Math.max(0, Math.round(tokens)), webSearches: searches };
}

/** Ours. `expired` stands in the API's pages but in no SDK (M). */
const words = {
  queued: "queued",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
} as const;

/**
 * What the families of Seedance take, by model id; of an endpoint (`ep-…`) nothing is known. Tags as in ark.ts: M is
 * what several third parties say of the vendor's page, U nobody confirmed. What is not sure enough to refuse is left open.
 */
function arkCapabilities(upstreamModel: string): VideoCapabilities {
  return families.find(([family]) => family.test(upstreamModel))?.[1] ?? unknownCapabilities;
}

const ratios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"];

const first: VideoCapabilities = {
  ...unknownCapabilities,
  // keep_ratio: older models that begin with a picture (M).
  ratios: [...ratios, "keep_ratio"],
  resolutions: ["480p", "720p", "1080p"],
  durationMin: 2, // M
  durationMax: 12, // M
  audio: false, // generate_audio is of 1.5 and 2.x only (V)
  seed: true,
};

const second: VideoCapabilities = {
  ...unknownCapabilities,
  ratios,
  resolutions: ["480p", "720p", "1080p", "4k"], // 4k on the standard model only (M)
  // -1: the model decides (M).
  durations: [-1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  audio: true,
  firstFrame: true,
  lastFrame: true,
  referencesMax: 15, // 9 images, 3 videos, 3 audios (V, from the vendor's solution architects)
  seed: true, // one source says that it is ignored, another lists it: taken and echoed (conflict)
};

const families: readonly (readonly [RegExp, VideoCapabilities])[] = [
  [/seedance-1-0-lite-t2v/, { ...first, firstFrame: false, lastFrame: false, referencesMax: 0 }],
  [/seedance-1-0-lite-i2v/, { ...first, firstFrame: true, lastFrame: true, referencesMax: 4 }], // M
  [/seedance-1-0/, { ...first, firstFrame: true }],
  [
    /seedance-1-5/,
    {
      ...first,
      ratios,
      durationMin: 4, // U exact
      audio: true,
      firstFrame: true,
      lastFrame: true,
    },
  ],
  [/seedance-2-0-(fast|mini)/, { ...second, resolutions: ["480p", "720p"] }], // M
  [/seedance-2-0/, second],
  // Up to 30 seconds or -1, more lines than 2.0 are not ruled out; 30 images, 10 videos, 10 audios (M).
  [/seedance-2-5/, { ...second, resolutions: [], durations: [-1], durationMax: 30, referencesMax: 50 }],
];
