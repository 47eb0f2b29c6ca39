import { bounds, Failure, noUsage, type TaskError, type Usage } from "#core/index.ts";
import { type JsonObject, objectOf, parseObject, textOf } from "#protocols/index.ts";
import { classifyByStatus, type RefusalHints, refusalObject } from "../classify-by-status.ts";
import type { GoodAnswer, ListedTask, VideoAdapter, VideoState } from "../video-adapter.ts";

/** The object in an answer to a poll. Throws Failure upstream_error, which ends no task. */
export function answerObject({ body }: GoodAnswer, failure: () => Failure = invalidAnswer): JsonObject {
  const value = parse(body);
  if (value === null) throw failure();
  return value;
}

/** The object in an answer to a creation. Throws Failure upstream_truncated, because a task may exist. */
export function createdObject(answer: GoodAnswer): JsonObject {
  return answerObject(answer, missingTaskId);
}

/** A new task's id at its vendor. Throws Failure upstream_truncated without a valid one. */
export function createdId(value: unknown): { readonly upstreamId: string } {
  const upstreamId = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  // The id becomes part of a path and must not lead out of it.
  const isSafe = typeof upstreamId === "string" && upstreamId !== "" && !/\.\.|[\s?#\\]/.test(upstreamId);
  if (!isSafe || upstreamId.length > bounds.upstreamIdCharactersMax) throw missingTaskId();
  return { upstreamId };
}

export function createdIdIn(member: string): VideoAdapter["readCreated"] {
  return (answer) => createdId(createdObject(answer)[member]);
}

/** null without an id: anyone may have sent the body. */
export function callbackIdIn(member: string): NonNullable<VideoAdapter["readCallback"]> {
  return (body) => {
    try {
      return createdId(parse(body)?.[member]);
    } catch {
      return null;
    }
  };
}

/** JSON that does not answer a poll. */
export function invalidAnswer(): Failure {
  return new Failure("upstream_error", "The upstream's answer has no task state.", { retry: "same" });
}

/** An error inside a 2xx, classified as `status`. For a 5xx the task may exist. */
export function refusalInside(answer: GoodAnswer, status: number, reading: RefusalHints = {}): Failure {
  const contentType = answer.headers.get("content-type") ?? "application/json";
  const headers = new Headers({ "content-type": contentType });
  const failure = classifyByStatus({ status, headers, body: answer.body, now: 0 }, reading);
  return status >= 500 ? failure.with({ arrival: "unknown" }) : failure;
}

/** Only a 404 with the vendor's own error means that the task is gone; others may come from a proxy or a wrong base URL. */
export function goneBy404(isAboutTask: (refusal: JsonObject) => boolean): NonNullable<VideoAdapter["reportsGone"]> {
  return ({ status, body }) => status === 404 && isAboutTask(refusalObject(body));
}

/** `{"error":{code}}`, unless the code is about the model or the account. */
export function hasErrorObject(refusal: JsonObject): boolean {
  const error = objectOf(refusal["error"]);
  const code = textOf(error["code"]) ?? textOf(error["type"]);
  return code !== null && !/model|endpoint|url|route|path/i.test(code);
}

export function foreignUrl(): Failure {
  return new Failure("upstream_error", "The video's URL is outside its provider.");
}

/** A vendor's status words. Unknown words change nothing. */
export type StateWords = Readonly<Record<string, Exclude<VideoState["state"], null>>>;

export function stateIn(words: StateWords, word: unknown): VideoState["state"] {
  return typeof word === "string" && Object.hasOwn(words, word) ? (words[word] ?? null) : null;
}

/** A state with null for everything that is not given. */
export function videoState(shown: Partial<VideoState>): VideoState {
  return { ...emptyState, ...shown };
}

const emptyState: VideoState = Object.freeze({
  state: null,
  progress: null,
  videoUrl: null,
  lastFrameUrl: null,
  expiresAt: null,
  error: null,
  usage: null,
  rawUsage: null,
  startedAt: null,
  next: null,
});

/** The raw values of an answer to a poll. */
interface TaskFacts {
  readonly status: unknown;
  /** The video's URL, required for a success. */
  readonly video: unknown;
  /** Validates URLs. Default: http and https. */
  readonly addressOf?: typeof webUrl;
  /** Billed seconds. */
  readonly seconds?: unknown;
  readonly error: readonly [code: unknown, message: unknown];
  readonly onSuccess?: Partial<VideoState>;
  readonly always?: Partial<VideoState>;
}

/** Throws Failure upstream_error for an invalid answer. */
export function taskState(words: StateWords, facts: TaskFacts): VideoState {
  const { status: word, video, addressOf = webUrl, seconds, error, onSuccess: made, always } = facts;
  if (typeof word !== "string") throw invalidAnswer();
  const state = stateIn(words, word);
  if (state === "failed") return videoState({ ...always, state, error: taskError(...error) });
  if (state !== "succeeded") return videoState({ ...always, state });
  const videoUrl = addressOf(video);
  if (videoUrl === null) throw invalidAnswer();
  return videoState({ usage: secondsUsage(seconds), ...always, ...made, state, videoUrl });
}

export function taskError(code: unknown, message: unknown): TaskError {
  const text = textOf(message) ?? "";
  return {
    code: codeText(code) ?? "generation_failed",
    message: text === "" ? "The upstream could not make the video." : text.slice(0, bounds.taskErrorCharactersMax),
  };
}

/** Reads a vendor's task list. `read` overrides fields with other names. Throws upstream_error. */
export function listedTasks(
  answer: GoodAnswer,
  member: string,
  read: (task: JsonObject) => { readonly prompt?: unknown; readonly mark?: unknown } = () => ({}),
): readonly ListedTask[] {
  const list = answerObject(answer)[member];
  if (!Array.isArray(list)) throw invalidAnswer();
  return list.map(objectOf).flatMap((task) => {
    const upstreamId = textOf(task["id"]) ?? textOf(task["task_id"]);
    if (upstreamId === null) return [];
    const { prompt = task["prompt"], mark } = read(task);
    const taskId = textOf(mark);
    return [
      {
        upstreamId,
        taskId: taskId?.startsWith("vt_") === true ? taskId : null,
        upstreamModel: textOf(task["model"]),
        prompt: textOf(prompt),
        createdAt: timeOf(task["created_at"]),
      },
    ];
  });
}

/** Unix seconds or RFC 3339 to Unix milliseconds; null for anything else. */
export function timeOf(value: unknown): number | null {
  if (typeof value === "number") return value * 1_000;
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return null;
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : time;
}

export function webUrl(value: unknown): string | null {
  return typeof value === "string" && value.length <= bounds.urlBytesMax && /^https?:\/\//.test(value) ? value : null;
}

/** Rounded to whole seconds: vendors report 5.041 and bill 5. */
export function secondsUsage(seconds: unknown): Usage | null {
  const number = typeof seconds === "string" && seconds !== "" ? Number(seconds) : seconds;
  if (typeof number !== "number" || !Number.isFinite(number) || number <= 0) return null;
  return { ...noUsage, videoSeconds: Math.max(1, Math.round(number)) };
}

/** JSON for the ledger; null if absent or too long. */
export function rawUsageOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value);
  return text.length > bounds.rawUsageBytesMax ? null : text;
}

function missingTaskId(): Failure {
  return new Failure("upstream_truncated", "The upstream's answer names no task.", { retry: "never" });
}

function parse(body: Uint8Array): JsonObject | null {
  return parseObject(decoder.decode(body));
}

const decoder = new TextDecoder();

function codeText(code: unknown): string | null {
  if (typeof code === "number" && Number.isSafeInteger(code)) return String(code);
  return typeof code === "string" && code !== "" ? code.slice(0, bounds.taskErrorCharactersMax) : null;
}
