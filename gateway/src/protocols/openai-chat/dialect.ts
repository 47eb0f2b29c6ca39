import type { Failure, LimitHeader } from "#core/index.ts";
import type { Dialect, UpstreamRefusal } from "../dialect.ts";
import { refusalBody } from "../errors/error-event.ts";
import { contextLengthCode, isContextTooLong } from "../errors/upstream-errors.ts";
import { decodeText } from "../json/bytes.ts";
import { arrayOf, isObject, objectOf, parseObject, textOf } from "../json/value.ts";

export const openaiChat: Dialect = {
  id: "openai-chat",
  errorShape: "openai",
  renderError: renderChatError,
  renderStreamError: renderChatStreamError,
  readRefusal: readChatRefusal,
  renderRefusal: ({ status, message, code, contextLength }) => {
    const shown = status === 429 ? "rate_limit_exceeded" : status === 404 ? "model_not_found" : code;
    const error = { message, type: typeOf(status), param: null, code: contextLength ? contextLengthCode : shown };
    return JSON.stringify({ error });
  },
  keepAlive: ": keep-alive\n\n",
  addLimitHeaders: addOpenaiLimitHeaders,
};

/** `{"error":{message,type,param,code}}` with the details of a limit. */
function renderChatError(failure: Failure): string {
  return JSON.stringify({
    error: {
      message: failure.message,
      type: failure.type,
      param: failure.param,
      code: failure.contextLength ? contextLengthCode : failure.code,
      ...failure.details,
    },
  });
}

/** SDKs throw on a chunk with a top-level `error`. No [DONE] follows. */
export function renderChatStreamError(failure: Failure): string {
  return `data: ${refusalBody(failure) ?? renderChatError(failure)}\n\n`;
}

/** Some vendors send `error` as a string or in an array; Mistral sends the bare error, FastAPI servers `detail`. */
function readChatRefusal(status: number, body: Uint8Array): UpstreamRefusal {
  const text = decodeText(body).trim();
  const reply = objectOf(parseObject(text.startsWith("[") ? text.slice(1, -1) : text));
  const error = objectOf(reply["error"]);
  const unframed = isObject(reply["error"]) ? {} : reply;
  const code = textOf(error["code"]) ?? textOf(error["type"]) ?? textOf(unframed["code"]) ?? textOf(unframed["type"]);
  const reported =
    textOf(error["message"]) ?? textOf(reply["error"]) ?? textOf(unframed["message"]) ?? detailOf(unframed["detail"]);
  const message = reported ?? `HTTP status ${status}`;
  // OpenRouter puts the vendor's own message here.
  const behind = textOf(objectOf(error["metadata"])["raw"]) ?? "";
  return { status, message, code, contextLength: isContextTooLong(status, code, `${message} ${behind}`) };
}

/** A text, or a list of invalid members. Source: FastAPI docs, "Handling Errors". */
function detailOf(detail: unknown): string | null {
  if (!Array.isArray(detail)) return textOf(detail);
  const problems = detail.slice(0, problemsMax).map(objectOf);
  const messages = problems.map(({ loc, msg }) => `${arrayOf(loc).join(".")}: ${textOf(msg) ?? "is wrong"}`);
  return messages.length === 0 ? null : messages.join("; ");
}

const problemsMax = 8;

function typeOf(status: number): string {
  if (status === 429) return "rate_limit_error";
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

const limitHeaders = { requests: limitHeadersOf("requests"), tokens: limitHeadersOf("tokens") } as const;

function limitHeadersOf(unit: string) {
  return {
    limit: `x-ratelimit-limit-${unit}`,
    remaining: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  };
}

export function addOpenaiLimitHeaders(
  out: Record<string, string>,
  unit: "requests" | "tokens",
  { limit, used, freeInMs }: LimitHeader,
): void {
  const names = limitHeaders[unit];
  out[names.limit] = String(limit);
  out[names.remaining] = String(Math.max(0, limit - used));
  out[names.reset] = duration(freeInMs);
}

/** `12ms`, `1s`, `6m0s`. Mostly the same string for equal durations, so that the line of the header is found at once. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  const slot = ms < 1_000 ? Math.ceil(ms) : 1_000 + seconds;
  if (slot >= durations.length) return durationText(ms, seconds);
  const text = durations[slot] ?? durationText(ms, seconds);
  durations[slot] = text;
  return text;
}

/** Up to a minute, the window of rates. */
const durations = new Array<string | undefined>(1_064).fill(undefined);

function durationText(ms: number, seconds: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
