import { createHmac } from "node:crypto";
import { type Failure, unknownCapabilities, type VideoCapabilities, type VideoTurn } from "#core/index.ts";
import { arrayOf, type JsonObject, numberOf, objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, type RefusalHints, refusalObject } from "../classify-by-status.ts";
import type { AuthorizeOptions, BadAnswer, OutboundDraft } from "../kind.ts";
import { settingText } from "../settings.ts";
import type { CreateInput, GoodAnswer, VideoAdapter } from "../video-adapter.ts";
import { answerObject, createdId, createdObject, rawUsageOf, refusalInside, taskState } from "./answers.ts";
import { type Material, materialOf, refuseNonImages, withoutDataPrefix } from "./material.ts";
import {
  createTaskDraft,
  plainRoot,
  refuseRatio,
  refuseSeed,
  refuseSound,
  unsupported,
  videoDraft,
} from "./requests.ts";

/**
 * Kling (several independent clients agree; K = general knowledge). A task's URL is below the path that created it, so our
 * upstream id is `<path>/<task id>`; the client reference has the path, too, for callbacks. Lists are per path and not
 * searched. Results are kept 30 days.
 */
export const klingVideo: VideoAdapter = {
  capabilities,
  // std and pro are its 720p and 1080p (K).
  paidMembers: { mode: { instead: "resolution", takes: ["std"] } },
  create: createDraft,
  readCreated: (answer, sent) => {
    const data = dataOf(createdObject(answer), answer);
    const { upstreamId } = createdId(data["task_id"]);
    const path = pathIn(sent?.url ?? "") ?? pathFromReference(data) ?? "text2video";
    return { upstreamId: `${path}/${upstreamId}` };
  },
  noTask: "text2video/0",
  poll: (provider, _, upstreamId) => {
    const [path = "", id = ""] = upstreamId.split("/");
    return videoDraft(provider, `${plainRoot(provider)}/v1/videos/${path}/${encodeURIComponent(id)}`);
  },
  readState: (answer) => {
    const data = dataOf(answerObject(answer), answer);
    const { url, duration } = objectOf(arrayOf(objectOf(data["task_result"])["videos"])[0]);
    return taskState(words, {
      status: data["task_status"],
      video: url,
      seconds: duration,
      error: [null, data["task_status_msg"]],
      onSuccess: { rawUsage: rawUsageOf({ duration }) },
    });
  },
  readCallback: (body) => {
    try {
      const data = createdObject({ status: 200, headers: new Headers(), body });
      const path = pathFromReference(data);
      return path === null ? null : { upstreamId: `${path}/${createdId(data["task_id"]).upstreamId}` };
    } catch {
      return null;
    }
  },
  keepsSeconds: 30 * 86_400,
};

function capabilities(upstreamModel: string): VideoCapabilities {
  if (!upstreamModel.startsWith("kling-")) return { ...unknownCapabilities, seed: false };
  const third = /kling-v[3-9]/.test(upstreamModel);
  return {
    ...unknownCapabilities,
    ratios: ["16:9", "9:16", "1:1"],
    resolutions: ["720p", "1080p"],
    durations: third ? [] : [5, 10],
    durationMin: third ? 3 : null,
    durationMax: third ? 15 : null,
    audio: isSilent(upstreamModel) ? false : null,
    seed: false,
  };
}

/** Audio starts with 2.6 (K). */
function isSilent(upstreamModel: string): boolean {
  return /kling-v(1|2-[0-5])/.test(upstreamModel);
}

function createDraft(input: CreateInput): OutboundDraft {
  const { provider, upstreamModel, turn, taskId, callbackUrl } = input;
  refuseSeed(turn);
  if (isSilent(upstreamModel)) refuseSound(turn);
  const material = materialOf(turn);
  const { path, members } = endpointFor(turn, material);
  return createTaskDraft(input, `${plainRoot(provider)}/v1/videos/${path}`, {
    model_name: upstreamModel,
    prompt: turn.prompt,
    duration: turn.durationSeconds?.toString(),
    mode: modeOf(turn, upstreamModel),
    sound: turn.audio === null || isSilent(upstreamModel) ? null : turn.audio ? "on" : "off",
    watermark_info: turn.watermark === null ? null : { enabled: turn.watermark }, // K
    ...members,
    external_task_id: `${taskId}.${path}`,
    callback_url: callbackUrl,
  });
}

function endpointFor(
  turn: VideoTurn,
  { first, last, images, videos, audios }: Material,
): { path: string; members: JsonObject } {
  refuseNonImages({ videos, audios });
  const shape = { aspect_ratio: turn.ratio };
  if (images.length > 0) {
    if (first !== null || last !== null) {
      throw unsupported("references", "This model supports either references or frames, not both.");
    }
    const list = images.map((image) => ({ image: withoutDataPrefix(image) })); // image_list: K
    return { path: "multi-image2video", members: { ...shape, image_list: list } };
  }
  if (first === null && last === null) return { path: "text2video", members: shape };
  refuseRatio(turn);
  return {
    path: "image2video",
    members: {
      image: first === null ? null : withoutDataPrefix(first),
      image_tail: last === null ? null : withoutDataPrefix(last),
    },
  };
}

function modeOf({ resolution }: VideoTurn, upstreamModel: string): string | null {
  if (resolution === null) return null;
  // Master models have one mode, which makes 1080p (K).
  if (upstreamModel.includes("master") && resolution === "1080p") return null;
  if (!upstreamModel.includes("master") && resolution === "720p") return "std";
  if (resolution === "1080p") return "pro";
  throw unsupported("resolution", "This model makes 720p and 1080p; a master model 1080p only.");
}

/** Throws Failure for a refusal inside a 2xx. After an internal error (5xxx) the task may exist. */
function dataOf(envelope: JsonObject, answer: GoodAnswer): JsonObject {
  const code = numberOf(envelope["code"]);
  if (code !== null && code !== 0) throw refusalInside(answer, statusForCode(code), hintsOf(code));
  return objectOf(envelope["data"]);
}

function pathIn(url: string): string | null {
  return /\/v1\/videos\/([a-z0-9-]+)$/.exec(url)?.[1] ?? null;
}

function pathFromReference(data: JsonObject): string | null {
  const mark = textOf(objectOf(data["task_info"])["external_task_id"]) ?? textOf(data["external_task_id"]) ?? "";
  return /\.([a-z0-9-]+)$/.exec(mark)?.[1] ?? null;
}

/** Kling writes `succeed`. */
const words = { submitted: "queued", processing: "running", succeed: "succeeded", failed: "failed" } as const;

/** A JWT for half an hour (RFC 7519, HS256), issued by `settings.access_key`. Accounts without one have a plain key (general knowledge). */
export function authorizeKling({ provider, headers }: OutboundDraft, { now }: AuthorizeOptions): void {
  const secret = provider.secret?.reveal();
  if (secret === undefined) return;
  const accessKey = settingText(provider, "access_key");
  headers["authorization"] = `Bearer ${accessKey === null ? secret : signedToken(accessKey, secret, now)}`;
}

/** Refusals are `{"code","message"}`; the thousands of the code group them. */
export function classifyKling(answer: BadAnswer): Failure {
  const code = numberOf(refusalObject(answer.body)["code"]);
  return code === null ? classifyByStatus(answer) : classifyByStatus(answer, hintsOf(code));
}

function hintsOf(code: number): RefusalHints {
  if ((code >= 1_000 && code <= 1_004) || code === 1_103) return { account: "credential" };
  return { account: code >= 1_100 && code <= 1_102 ? "credit" : null };
}

function statusForCode(code: number): number {
  if (code >= 1_000 && code <= 1_004) return 401;
  if (code >= 1_200 && code <= 1_301) return 400;
  if (code >= 1_302 && code <= 1_304) return 429;
  return code >= 1_100 && code <= 1_103 ? 403 : 500;
}

function signedToken(accessKey: string, secretKey: string, now: number): string {
  const seconds = Math.floor(now / 1_000);
  const claims = { iss: accessKey, exp: seconds + 1_800, nbf: seconds - 5 };
  const unsigned = `${base64Url({ alg: "HS256", typ: "JWT" })}.${base64Url(claims)}`;
  return `${unsigned}.${createHmac("sha256", secretKey).update(unsigned).digest("base64url")}`;
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}
