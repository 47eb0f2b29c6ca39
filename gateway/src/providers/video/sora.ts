import { type Provider, unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import { frameSize, type JsonObject, numberOf, objectOf, textOf } from "#protocols/index.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import type { CreateInput, VideoAdapter, VideoState } from "../video-adapter.ts";
import { type FormField, writeForm } from "../write-form.ts";
import {
  answerObject,
  createdIdIn,
  foreignUrl,
  goneBy404,
  hasErrorObject,
  invalidAnswer,
  listedTasks,
  rawUsageOf,
  taskState,
} from "./answers.ts";
import { materialOf, readDataUri, refuseLastFrame, refuseReferences } from "./material.ts";
import {
  type RootOf,
  refuseSeed,
  refuseSilence,
  refuseWatermark,
  taskDrafts,
  unsupported,
  videoDraft,
} from "./requests.ts";

/**
 * OpenAI's videos (openai@6.49.0; U = unverified), also at Azure's v1 API (K: general knowledge). No cancellation. The
 * bytes need the credential and expire at `expires_at`.
 */
export function soraVideo(rootOf: RootOf): VideoAdapter {
  const video = taskDrafts(rootOf, "/videos");
  return {
    capabilities,
    create: (input) => createDraft(input, `${rootOf(input.provider)}/videos`),
    readCreated: createdIdIn("id"),
    poll: video(),
    readState: (answer, provider) => {
      const shown = answerObject(answer);
      const id = textOf(shown["id"]);
      if (id === null) throw invalidAnswer();
      return stateOf(shown, `${rootOf(provider)}/videos/${encodeURIComponent(id)}/content`);
    },
    reportsGone: goneBy404(hasErrorObject),
    remove: video("", { method: "DELETE" }),
    list: (provider) => videoDraft(provider, `${rootOf(provider)}/videos?limit=100&order=desc`),
    readList: (answer) => listedTasks(answer, "data"),
    remixes: true,
    takesFiles: true,
    content: (provider, url) => fileDraft(provider, url, rootOf(provider)),
    still: (provider, url, still) => fileDraft(provider, `${url}?variant=${still}`, rootOf(provider)),
  };
}

function fileDraft(provider: Provider, url: string, root: string): OutboundDraft {
  if (!url.startsWith(`${root}/videos/`)) throw foreignUrl();
  return videoDraft(provider, url, { headers: { accept: "*/*" } });
}

const sora: VideoCapabilities = {
  ...unknownCapabilities,
  ratios: ["16:9", "9:16"],
  resolutions: ["720p"],
  durations: [4, 8, 12],
  audio: true,
  firstFrame: true,
  lastFrame: false,
  referencesMax: 0,
  seed: false,
};

/** Azure deployments may have any name: unknown capabilities. */
function capabilities(upstreamModel: string): VideoCapabilities {
  if (!upstreamModel.includes("sora-2")) return { ...unknownCapabilities, seed: false, lastFrame: false };
  // The larger model also has 1792x1024 and 1024x1792: 7:4 with 1024p.
  if (!upstreamModel.includes("pro")) return sora;
  return { ...sora, ratios: ["16:9", "9:16", "7:4", "4:7"], resolutions: ["720p", "1024p"] };
}

function createDraft({ provider, upstreamModel, turn, taskId }: CreateInput, url: string): OutboundDraft {
  if (turn.remixOf !== undefined) {
    // The vendor keeps model, length and size.
    const json = { ...turn.vendorFields, prompt: turn.prompt };
    return videoDraft(provider, `${url}/${encodeURIComponent(turn.remixOf)}/remix`, { json });
  }
  const material = materialOf(turn);
  refuseLastFrame(material);
  refuseReferences([...material.images, ...material.videos, ...material.audios], "references");
  refuseSeed(turn);
  refuseSilence(turn);
  refuseWatermark(turn);
  const members: JsonObject = {
    ...turn.vendorFields,
    model: upstreamModel,
    ...(turn.prompt === null ? {} : { prompt: turn.prompt }),
    ...(turn.durationSeconds === null ? {} : { seconds: String(turn.durationSeconds) }),
    ...sizeOf(turn),
  };
  const inline = material.first === null ? null : readDataUri(material.first);
  if (material.first !== null && inline === null) {
    // The vendor accepts image URLs and files in JSON (U).
    const [, fileId] = /^file:(.*)$/.exec(material.first) ?? [];
    const input_reference = fileId === undefined ? { image_url: material.first } : { file_id: fileId };
    const json = { ...members, input_reference };
    return videoDraft(provider, url, { json });
  }
  const fields: FormField[] = Object.entries(members).map(([name, value]) => ({ name, value: fieldText(value) }));
  if (inline !== null) {
    const { contentType } = inline;
    const fileName = `first-frame.${contentType.split("/")[1] ?? "bin"}`;
    const bytes = Buffer.from(inline.base64, "base64");
    fields.push({ name: "input_reference", value: { fileName, contentType, bytes } });
  }
  const form = writeForm(fields, `video-${taskId}`);
  const draft = videoDraft(provider, url, { method: "POST", headers: { "content-type": form.contentType } });
  return { ...draft, body: form.body };
}

function sizeOf({ ratio, resolution }: VideoTurn): { size?: string } {
  if (ratio === null && resolution === null) return {};
  const size = frameSize(ratio, resolution);
  if (size !== null) return { size: `${size.width}x${size.height}` };
  throw unsupported("ratio", "This model takes a `ratio` such as 16:9 and a `resolution` such as 720p.");
}

function fieldText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function stateOf(video: JsonObject, videoUrl: string): VideoState {
  const { seconds, size } = video;
  const error = objectOf(video["error"]);
  const progress = numberOf(video["progress"]);
  return taskState(words, {
    status: video["status"],
    video: videoUrl,
    // Built here from the account's base URL.
    addressOf: () => videoUrl,
    seconds,
    error: [error["code"], error["message"]],
    onSuccess: { expiresAt: numberOf(video["expires_at"]), rawUsage: rawUsageOf({ seconds, size }) },
    always: { progress: progress === null ? null : Math.min(100, Math.max(0, Math.round(progress))) },
  });
}

const words = {
  queued: "queued",
  in_progress: "running",
  completed: "succeeded",
  failed: "failed",
  // Azure's earlier names (K).
  preprocessing: "running",
  running: "running",
  processing: "running",
  succeeded: "succeeded",
  cancelled: "cancelled",
} as const;
