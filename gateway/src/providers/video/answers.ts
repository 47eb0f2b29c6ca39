import { bounds, Failure, noUsage, type TaskError, type Usage } from "#core/index.ts";
import { type JsonObject, objectOf, parseObject, textOf } from "#protocols/index.ts";
import { classifyByStatus, type RefusalReading, refusalObject } from "../classify-by-status.ts";
import type { GoodAnswer, ListedTask, VideoAdapter, VideoState } from "../video-adapter.ts";

/** The object that a poll was answered with. Throws Failure upstream_error, which ends no task. */
export function answerObject({ body }: GoodAnswer, failure: () => Failure = noAnswer): JsonObject {
  const value = parse(body);
  if (value === null) throw failure();
  return value;
}

/** The object that a creation was answered with; throws Failure upstream_truncated when nobody can tell what came of it. */
export function createdObject(answer: GoodAnswer): JsonObject {
  return answerObject(answer, noTaskNamed);
}

/** A new task's name at its vendor. Throws Failure upstream_truncated when there is none that could be asked about. */
export function createdId(value: unknown): { readonly upstreamId: string } {
  const upstreamId = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  // The id becomes part of a path and must not lead out of it.
  const isSafe = typeof upstreamId === "string" && upstreamId !== "" && !/\.\.|[\s?#\\]/.test(upstreamId);
  if (!isSafe || upstreamId.length > bounds.upstreamIdCharactersMax) throw noTaskNamed();
  return { upstreamId };
}

/** For vendors whose answer to a creation names the task in this member. */
export function createdIn(member: string): VideoAdapter["readCreated"] {
  return (answer) => createdId(createdObject(answer)[member]);
}

/** For vendors whose callbacks name the task in this member. Anybody may have sent the body: null when it names none. */
export function calledBackIn(member: string): NonNullable<VideoAdapter["readCallback"]> {
  return (body) => {
    try {
      return createdId(parse(body)?.[member]);
    } catch {
      return null;
    }
  };
}

/** For what may be JSON and yet is no answer to a poll. */
export function noAnswer(): Failure {
  return new Failure("upstream_error", "The upstream's answer does not say how the task is.", { retry: "same" });
}

/**
 * A refusal inside a 2xx, judged as the status would be that the vendor did not use. Trouble of the vendor's own (5xx) is no
 * refusal: what was asked for may have been done.
 */
export function refusalInside(answer: GoodAnswer, status: number, reading: RefusalReading = {}): Failure {
  const contentType = answer.headers.get("content-type") ?? "application/json";
  const headers = new Headers({ "content-type": contentType });
  const failure = classifyByStatus({ status, headers, body: answer.body, now: 0 }, reading);
  return status >= 500 ? failure.with({ arrival: "unknown" }) : failure;
}

/**
 * Only a 404 in the vendor's own form says that a task is gone: one without it may come from a proxy, or from a base URL
 * that is wrong.
 */
export function goneBy404(isAboutTask: (refusal: JsonObject) => boolean): NonNullable<VideoAdapter["saysGone"]> {
  return ({ status, body }) => status === 404 && isAboutTask(refusalObject(body));
}

/** `{"error":{code}}` with a code that does not speak of the model or the account instead. */
export function hasErrorObject(refusal: JsonObject): boolean {
  const error = objectOf(refusal["error"]);
  const code = textOf(error["code"]) ?? textOf(error["type"]);
  return code !== null && !/model|endpoint|url|route|path/i.test(code);
}

/** For an address in an answer that leads away from the account. */
export function elsewhere(): Failure {
  return new Failure("upstream_error", "The video does not stand where its provider is.");
}

/** A vendor's words for our states. A word that is not among them says nothing: the state stays what it was. */
export type StateWords = Readonly<Record<string, Exclude<VideoState["state"], null>>>;

/** `null` for a word that is not the vendor's, or none at all. */
export function stateIn(words: StateWords, word: unknown): VideoState["state"] {
  return typeof word === "string" && Object.hasOwn(words, word) ? (words[word] ?? null) : null;
}

/** What a poll has shown, with everything that the vendor does not tell as null. */
export function videoState(known: Partial<VideoState>): VideoState {
  return { ...nothingKnown, ...known };
}

const nothingKnown: VideoState = Object.freeze({
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

/** What a vendor's answer says of a task, as it stands there. */
interface TaskFacts {
  readonly word: unknown;
  /** The video's address: a success without one is no answer. */
  readonly video: unknown;
  /** Which addresses are believed; those of the web where nothing else is said. */
  readonly addressOf?: typeof webUrl;
  /** What is paid for, of a success. */
  readonly seconds?: unknown;
  readonly error: readonly [code: unknown, message: unknown];
  /** What else is told of a success. */
  readonly made?: Partial<VideoState>;
  /** What is told in any state. */
  readonly always?: Partial<VideoState>;
}

/** What a poll has shown. Throws Failure upstream_error for what is no answer. */
export function taskState(words: StateWords, facts: TaskFacts): VideoState {
  const { word, video, addressOf = webUrl, seconds, error, made, always } = facts;
  if (typeof word !== "string") throw noAnswer();
  const state = stateIn(words, word);
  if (state === "failed") return videoState({ ...always, state, error: taskError(...error) });
  if (state !== "succeeded") return videoState({ ...always, state });
  const videoUrl = addressOf(video);
  if (videoUrl === null) throw noAnswer();
  return videoState({ usage: secondsUsage(seconds), ...always, ...made, state, videoUrl });
}

/** Why a task failed, in the vendor's words if it gave any. */
export function taskError(code: unknown, message: unknown): TaskError {
  const said = textOf(message) ?? "";
  return {
    code: codeText(code) ?? "generation_failed",
    message: said === "" ? "The upstream could not make the video." : said.slice(0, bounds.taskErrorCharactersMax),
  };
}

/** The tasks in a vendor's list. Most vendors have the same names for them; `read` says what differs. Throws upstream_error. */
export function listedTasks(
  answer: GoodAnswer,
  member: string,
  read: (task: JsonObject) => { readonly prompt?: unknown; readonly mark?: unknown } = () => ({}),
): readonly ListedTask[] {
  const list = answerObject(answer)[member];
  if (!Array.isArray(list)) throw noAnswer();
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

/** Unix seconds or an RFC 3339 time as Unix milliseconds; null for anything else. */
export function timeOf(value: unknown): number | null {
  if (typeof value === "number") return value * 1_000;
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return null;
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : time;
}

export function webUrl(value: unknown): string | null {
  return typeof value === "string" && value.length <= bounds.urlBytesMax && /^https?:\/\//.test(value) ? value : null;
}

/** Seconds of video as usage, whole as they are paid for: vendors tell 5.041 of what they bill as 5. */
export function secondsUsage(seconds: unknown): Usage | null {
  const number = typeof seconds === "string" && seconds !== "" ? Number(seconds) : seconds;
  if (typeof number !== "number" || !Number.isFinite(number) || number <= 0) return null;
  return { ...noUsage, videoSeconds: Math.max(1, Math.round(number)) };
}

/** What the vendor said of usage, as it stands in the ledger; null when it said nothing or too much. */
export function rawUsageOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value);
  return text.length > bounds.rawUsageBytesMax ? null : text;
}

function noTaskNamed(): Failure {
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
