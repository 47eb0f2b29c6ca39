import { bounds, noUsage, type TaskError, type Usage } from "#core/index.ts";
import { textOf } from "#protocols/index.ts";
import type { VideoState } from "../video-adapter.ts";

type StateName = Exclude<VideoState["state"], null>;
/** A vendor's words for our states. A word that is not among them says nothing: the state stays what it was. */
export type StateWords = ReadonlyMap<string, StateName>;

/** What a look has shown, with everything that the vendor does not tell as null. */
export function videoState(known: Partial<VideoState>): VideoState {
  return { ...nothingKnown, ...known };
}

/** `null` for a word that is not the vendor's, or none at all. */
export function stateIn(words: StateWords, word: unknown): VideoState["state"] {
  return typeof word === "string" ? (words.get(word) ?? null) : null;
}

/** Why a task failed, in the vendor's words where it has any. */
export function taskError(code: unknown, message: unknown): TaskError {
  const said = textOf(message) ?? "";
  return {
    code: codeText(code) ?? "generation_failed",
    message: said === "" ? "The upstream could not make the video." : said.slice(0, bounds.taskErrorCharactersMax),
  };
}

/** A share between 0 and 1 as a percentage. */
export function percentOf(share: unknown): number | null {
  if (typeof share !== "number" || !(share >= 0 && share <= 1)) return null;
  return Math.round(share * 100);
}

/** An RFC 3339 time as Unix milliseconds; null for anything else. */
export function timeOf(value: unknown): number | null {
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return null;
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : time;
}

/** A text that is an address of the web. */
export function webUrl(value: unknown): string | null {
  return typeof value === "string" && value.length <= bounds.urlBytesMax && /^https?:\/\//.test(value) ? value : null;
}

function codeText(code: unknown): string | null {
  if (typeof code === "number" && Number.isSafeInteger(code)) return String(code);
  return typeof code === "string" && code !== "" ? code.slice(0, bounds.taskErrorCharactersMax) : null;
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
