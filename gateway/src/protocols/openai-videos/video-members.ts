import { openAiVideoFields } from "@sluice/contract/words";
import { checkFields, shownState, type Task, videoIdOf } from "#core/index.ts";
import { invalid, isObject, type JsonObject, misspelled, textOf } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";

/** A task's members that were said by another name: `duration` → `seconds`. */
export type RenamedMembers = Readonly<Record<string, string>>;

/** The video that is made anew: its public model, and our id of its task. */
export interface RemixedVideo {
  readonly model: string;
  readonly taskId: string;
}

/**
 * OpenAI's members of a video as those of `POST /v1/video/tasks`: `seconds`, `size` and `input_reference` are read, everything else stays
 * as it is, so that whatever a task can be asked for can be asked for here too. Throws Failure invalid_request, by the name
 * that the caller used.
 */
export function readVideoMembers(body: JsonObject, remix: RemixedVideo | null) {
  const others: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    const meant = openaiNames.variantOf(name);
    if (meant !== null) throw misspelled(name, meant);
    if (characters.has(name) && value !== null) throw invalid(name, charactersUnsupported);
    if (!openaiNames.has(name) && !(remix !== null && name === "remix_of")) others.push([name, value]);
  }
  checkFields(body, openaiFields);
  const renamed: Record<string, string> = {};
  const translated: [string, unknown][] = [];
  const put = (theirName: string, members: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(members)) {
      if ((body[name] ?? null) !== null)
        throw invalid(theirName, `says what "${name}" says too: leave one of them out`);
      renamed[name] = theirName;
      translated.push([name, value]);
    }
  };
  if ((body["seconds"] ?? null) !== null) put("seconds", { duration: Number(body["seconds"]) });
  if ((body["size"] ?? null) !== null) put("size", readSize(body["size"]));
  if ((body["input_reference"] ?? null) !== null) put("input_reference", readReference(body["input_reference"]));
  const replaced = new Set(translated.map(([name]) => name));
  const passedOn = others.filter(([name]) => !replaced.has(name));
  const prompt = Object.hasOwn(body, "prompt") ? [["prompt", body["prompt"]]] : [];
  const members = [...headOf(body, remix), ...prompt, ...translated, ...passedOn];
  return { members: Object.fromEntries(members), renamed };
}

function headOf(body: JsonObject, remix: RemixedVideo | null): [string, unknown][] {
  if (remix === null) return [["model", body["model"] ?? defaultModel]];
  for (const name of ["model", "remix_of"]) {
    if ((body[name] ?? null) !== null) throw invalid(name, "is not taken here: a remix is made by its video's model");
  }
  return [
    ["model", remix.model],
    ["remix_of", remix.taskId],
  ];
}

/** What OpenAI takes where no model is named. */
const defaultModel = "sora-2";

const { model, seconds, size, input_reference } = openAiVideoFields;
/** Whatever else is there is checked as a task's own. */
const openaiFields = { model, seconds, size, input_reference };
const openaiNames = new GovernedNames([...Object.keys(openaiFields), "prompt"]);

/** They belong to an account that many may share, and nobody can make one here. */
const characters: ReadonlySet<string> = new Set(["characters", "character_ids"]);
const charactersUnsupported = "names characters of the upstream's account, which are not offered here";

function readSize(value: unknown): { readonly ratio: string; readonly resolution: string } {
  const shape = typeof value === "string" ? ratioAndResolution(value) : null;
  if (shape !== null) return shape;
  throw invalid("size", openAiVideoFields.size.must);
}

/** A picture is the first frame, as with OpenAI; a video is what the new one should look like. */
function readReference(value: unknown): Readonly<Record<string, unknown>> {
  const url = typeof value === "string" ? value : urlIn(value);
  if (/^data:video\//i.test(url)) return { references: [{ url, type: "video" }] };
  return { image: url };
}

function urlIn(value: unknown): string {
  const reference = isObject(value) ? value : {};
  if ((reference["file_id"] ?? null) !== null) {
    throw invalid(
      "input_reference",
      "names an uploaded file, and no files are kept here: send the picture itself, or `image_url`",
    );
  }
  const unknown = Object.keys(reference).find((name) => name !== "image_url" && name !== "file_id");
  if (unknown !== undefined) throw invalid(`input_reference.${unknown}`, "is not known");
  const url = textOf(reference["image_url"]);
  if (url !== null) return url;
  throw invalid("input_reference", openAiVideoFields.input_reference.must);
}

/**
 * A video task as OpenAI's clients are shown a video (openai@7.55.0, resources/videos). Times are Unix seconds. What was neither
 * asked for nor told by the upstream is null.
 */
export function videoObject(task: Task): Readonly<Record<string, unknown>> {
  const { asked, output } = task;
  const done = task.state === "succeeded";
  const seconds = asked.durationSeconds ?? task.usage?.videoSeconds ?? 0;
  const size = asked.ratio === null || asked.resolution === null ? null : frameSize(asked.ratio, asked.resolution);
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
    prompt: asked.prompt,
    error: errorOf(task),
    remixed_from_video_id: asked.remixOf === undefined ? null : videoIdOf(asked.remixOf),
  };
}

/** A video that was taken back or given up has failed, in words that OpenAI's clients wait for. */
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
 * Pixels of a `ratio` (`16:9`) and a `resolution` (`720p`, the lines of the shorter side), both sides even. What one of
 * them leaves open is 16:9 or 720p; null when both do, and when either is not of its form (`adaptive`).
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

/**
 * The other way round: what `1280x720` is in `ratio` and `resolution`, exactly. null for what is not of that form, and for
 * odd sides, which no video has.
 */
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
