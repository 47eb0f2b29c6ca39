import { openAiVideoFields } from "@sluice/contract/words";
import { checkFields, shownState, type Task, videoIdOf } from "#core/index.ts";
import { invalid, isObject, type JsonObject, misspelled, textOf } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";

/** Members of a task renamed by this dialect: `duration` → `seconds`. */
export type RenamedMembers = Readonly<Record<string, string>>;

/** The video to remix: its public model and task id. */
export interface RemixedVideo {
  readonly model: string;
  readonly taskId: string;
}

/**
 * Converts OpenAI's members to those of `POST /v1/video/tasks`: `seconds`, `size` and `input_reference` are translated, others pass.
 * Throws Failure invalid_request with the caller's names.
 */
export function readVideoMembers(body: JsonObject, remix: RemixedVideo | null) {
  const others: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    const governedName = openaiNames.variantOf(name);
    if (governedName !== null) throw misspelled(name, governedName);
    if (!openaiNames.has(name) && !(remix !== null && name === "remix_of")) others.push([name, value]);
  }
  checkFields(body, openaiFields);
  const renamed: Record<string, string> = {};
  const translated: [string, unknown][] = [];
  const put = (theirName: string, members: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(members)) {
      if ((body[name] ?? null) !== null) throw invalid(theirName, `conflicts with "${name}": send only one of them`);
      renamed[name] = theirName;
      translated.push([name, value]);
    }
  };
  if ((body["seconds"] ?? null) !== null) put("seconds", { duration: Number(body["seconds"]) });
  if ((body["size"] ?? null) !== null) put("size", readSize(body["size"]));
  if ((body["input_reference"] ?? null) !== null) put("input_reference", readReference(body["input_reference"]));
  const replaced = new Set(translated.map(([name]) => name));
  const forwarded = others.filter(([name]) => !replaced.has(name));
  const prompt = Object.hasOwn(body, "prompt") ? [["prompt", body["prompt"]]] : [];
  const members = [...headOf(body, remix), ...prompt, ...translated, ...forwarded];
  return { members: Object.fromEntries(members), renamed };
}

function headOf(body: JsonObject, remix: RemixedVideo | null): [string, unknown][] {
  if (remix === null) return [["model", body["model"] ?? defaultModel]];
  for (const name of ["model", "remix_of"]) {
    if ((body[name] ?? null) !== null) throw invalid(name, "is not accepted: a remix uses the model of its video");
  }
  return [
    ["model", remix.model],
    ["remix_of", remix.taskId],
  ];
}

/** OpenAI's default. */
const defaultModel = "sora-2";

const { model, seconds, size, input_reference } = openAiVideoFields;
/** Other members are checked as a task's. */
const openaiFields = { model, seconds, size, input_reference };
const openaiNames = new GovernedNames([...Object.keys(openaiFields), "prompt"]);

function readSize(value: unknown): { readonly ratio: string; readonly resolution: string } {
  const shape = typeof value === "string" ? ratioAndResolution(value) : null;
  if (shape !== null) return shape;
  throw invalid("size", openAiVideoFields.size.must);
}

/** A picture is the first frame, a video a reference. A file must be a picture. */
function readReference(value: unknown): Readonly<Record<string, unknown>> {
  const url = typeof value === "string" ? value : readReferenceObject(value);
  if (typeof url !== "string") return { image: url };
  if (/^data:video\//i.test(url)) return { references: [{ url, type: "video" }] };
  return { image: url };
}

function readReferenceObject(value: unknown): string | { readonly file_id: string } {
  const reference = isObject(value) ? value : {};
  const unknown = Object.keys(reference).find((name) => name !== "image_url" && name !== "file_id");
  if (unknown !== undefined) throw invalid(`input_reference.${unknown}`, "is not known");
  const url = textOf(reference["image_url"] ?? null);
  const fileId = textOf(reference["file_id"] ?? null);
  if (fileId !== null && (reference["image_url"] ?? null) === null) return { file_id: fileId };
  if (url !== null && (reference["file_id"] ?? null) === null) return url;
  throw invalid("input_reference", openAiVideoFields.input_reference.must);
}

/** A video task as OpenAI's SDK reads it (openai@7.55.0, resources/videos). Times are Unix seconds. */
export function videoObject(task: Task): Readonly<Record<string, unknown>> {
  const { params, output } = task;
  const done = task.state === "succeeded";
  const seconds = params.durationSeconds ?? task.usage?.videoSeconds ?? 0;
  const size = params.ratio === null || params.resolution === null ? null : frameSize(params.ratio, params.resolution);
  return {
    id: videoIdOf(task.id),
    object: "video",
    model: task.model,
    status: statuses[shownState(task.state)],
    progress: done ? 100 : (task.progress ?? 0),
    created_at: Math.floor(task.createdAt / 1_000),
    completed_at: done && task.finishedAt !== null ? Math.floor(task.finishedAt / 1_000) : null,
    expires_at: output?.expiresAt ?? null,
    seconds: seconds > 0 ? String(seconds) : null,
    size: size === null ? null : `${size.width}x${size.height}`,
    prompt: params.prompt,
    error: errorOf(task),
    remixed_from_video_id: params.remixOf === undefined ? null : videoIdOf(params.remixOf),
  };
}

/** OpenAI has no cancelled or expired videos. */
const statuses = {
  queued: "queued",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
} as const satisfies Record<ReturnType<typeof shownState>, string>;

function errorOf({ state, error, finishedAt }: Task): Task["error"] {
  if (finishedAt === null || state === "succeeded") return null;
  return error ?? { code: state, message: `The video is ${state}.` };
}

/**
 * Pixels for a `ratio` (`16:9`) and `resolution` (`720p`), both even. Defaults are 16:9 and 720p; null without either, or for other
 * values (`adaptive`).
 */
export function frameSize(ratio: string | null, resolution: string | null) {
  if (ratio === null && resolution === null) return null;
  const shape = /^(\d{1,4}):(\d{1,4})$/.exec(ratio ?? "16:9");
  const lines = /^(\d{2,4})p$/i.exec(resolution ?? "720p");
  if (shape === null || lines === null) return null;
  const across = Number(shape[1]);
  const down = Number(shape[2]);
  const shorter = Number(lines[1]);
  if (across === 0 || down === 0) return null;
  const longer = Math.round((shorter * Math.max(across, down)) / Math.min(across, down) / 2) * 2;
  return across >= down ? { width: longer, height: shorter } : { width: shorter, height: longer };
}

/** Reverses `frameSize` exactly. Null for other forms and odd sizes. */
export function ratioAndResolution(size: string): { readonly ratio: string; readonly resolution: string } | null {
  const [, across, down] = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/.exec(size) ?? [];
  if (across === undefined || down === undefined) return null;
  const width = Number(across);
  const height = Number(down);
  if (width % 2 === 1 || height % 2 === 1) return null;
  const divisor = commonDivisor(width, height);
  return { ratio: `${width / divisor}:${height / divisor}`, resolution: `${Math.min(width, height)}p` };
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other);
}
