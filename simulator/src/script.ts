import { bounds } from "./bounds.ts";

/**
 * How the simulator behaves for one request. All fields are optional; an empty script is a healthy vendor.
 * `…_events` counts SSE events from the very first one (the role event of a chat is event 1): "after 0 events" means
 * after the status line. Times are in milliseconds.
 */
export interface Script {
  /** Identifies the script for `fail_first`. */
  readonly name?: string;
  /** The delay before the status line. */
  readonly latency_ms?: number;
  /** The delay between the status line and the first event. */
  readonly first_event_ms?: number;
  /** The delay before each later event. */
  readonly event_ms?: number;
  /** The number of content events, and so of output tokens, in each choice of plain text. */
  readonly tokens?: number;
  /** The prompt tokens in the usage, cached and cache-written ones included; default: the words counted. */
  readonly prompt_tokens?: number;
  /** The prompt tokens read from a cache. */
  readonly cached_tokens?: number;
  /** The prompt tokens written to a cache: for five minutes, and for an hour. */
  readonly cache_write_tokens?: number;
  readonly cache_write_1h_tokens?: number;
  /** The reasoning tokens in the usage, in addition to the content events. By default, a request with reasoning gets six, one for each word shown. */
  readonly reasoning_tokens?: number;
  /** The output tokens of each image. */
  readonly image_tokens?: number;
  /** The field for reasoning in a chat answer, as with some vendors that use OpenAI's dialect. */
  readonly reasoning_field?: "reasoning_content" | "reasoning";
  /** Calls this many of the request's tools, one after the other, unless the last message is a tool result. */
  readonly tool_calls?: number;
  /** In the text of a prompt: the number of turns with a tool call before the answer is text. Default 1. */
  readonly tool_turns?: number;
  /** With calls: text precedes them. */
  readonly preamble?: boolean;
  /** Why the answer ended; each dialect has its own word. `failed` is a response.failed. */
  readonly finish?: Finish;
  /** The prompt is refused for this reason, as Gemini and Azure do. */
  readonly blocked?: string;
  /** A streamed Messages answer reports zeros first and the real input counts only at the end. */
  readonly late_usage?: boolean;
  /** How long a background response remains unfinished. Default 50. */
  readonly background_ms?: number;
  /** The lifetime reported with an access token, in seconds. */
  readonly expires_in?: number;
  /** The number of requested images that fail (Seedream). */
  readonly failed_images?: number;
  /** Bedrock calls must be signed with this secret. */
  readonly aws_secret?: string;
  /** The third frame of an AWS event stream has a wrong checksum. */
  readonly bad_checksum?: boolean;
  /** Sends nothing for `stall_ms` (default: until the caller disconnects, at most an hour), then continues. */
  readonly stall_after_events?: number;
  readonly stall_ms?: number;
  /** Closes the connection (FIN) in the middle of the body, without a terminal event or the end of the framing. */
  readonly cut_after_events?: number;
  /** The same with a reset (RST). */
  readonly reset_after_events?: number;
  /** Ends the HTTP response cleanly before the stream is complete. */
  readonly end_after_events?: number;
  /** With cut, reset, end or stall: half of the next event is sent first. */
  readonly half_event?: boolean;
  /** Sends bytes that are not a chunk header, then closes. */
  readonly break_chunking_after_events?: number;
  /** Sends an error event inside the 200 response and ends without a terminal event. */
  readonly error_event_after?: number;
  /** Responds with this status; 400 and above are errors in the dialect's format. */
  readonly status?: number;
  /** Seconds, or an HTTP date. */
  readonly retry_after?: number | string;
  /** The error body (or the whole JSON response) instead of the default one. */
  readonly body?: string;
  /** Fails (with `status`, default 500) until this many attempts with the same name (or else the same body) were made. */
  readonly fail_first?: number;
  /** Invalid JSON: in the third event of a stream, or as the whole response. */
  readonly malformed?: boolean;
  readonly no_usage?: boolean;
  readonly zero_usage?: boolean;
  /** Makes the first piece of content at least this large. */
  readonly giant_event_bytes?: number;
  /** Each byte is sent as its own chunk, in its own write. */
  readonly one_byte_chunks?: boolean;
  /** Lines end with CR LF. */
  readonly crlf?: boolean;
  /** A comment line before every event of an SSE stream. */
  readonly keep_alive_comments?: boolean;
  /** A comment line (Messages: a ping) whenever a wait inside an SSE stream has lasted this long. */
  readonly keep_alive_ms?: number;
  /** False omits the terminal event (`[DONE]`, message_stop, response.completed, Gemini's last chunk). */
  readonly done?: boolean;
  /** Closes the connection without a response. */
  readonly drop?: boolean;
  /** Added to the correct content-length of a whole response; the connection is then closed. */
  readonly content_length_delta?: number;
  /** Written to the socket instead of a response, one byte per character (Latin-1); the connection is then closed. */
  readonly raw_reply?: string;
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Store the received body, or the sent body, in the truth. */
  readonly keep_received?: boolean;
  readonly keep_sent?: boolean;
  /** The request is carried out, but its response never arrives: the connection closes, or nothing is sent (`stall_ms`). */
  readonly answer_lost?: "cut" | "reset" | "silent";
  /** The error code and message of a refusal by `status`, or of a task or asset that fails. */
  readonly error_code?: string;
  readonly error_message?: string;
  /** The fields below are stored with the task that the request creates. How long it is queued (default 50) and runs (150). */
  readonly queued_ms?: number;
  readonly running_ms?: number;
  /** How it ends; assets support only `succeeded` and `failed`. */
  readonly ends?: TaskEnd;
  /** A task that is canceled while it runs is billed, as with some vendors. */
  readonly bills_cancelled?: boolean;
  /** Replaces the vendor's word for the state while the task runs. */
  readonly odd_state?: string;
  /** The tokens (or other units of the vendor) reported at the end, instead of those computed from the video's size. */
  readonly video_tokens?: number;
  /** The size of the video, if larger than the smallest. */
  readonly video_bytes?: number;
  /** How long links to results are valid after the end of the task. Default: one day. */
  readonly url_ms?: number;
  /** The task no longer exists this long after it was created. */
  readonly vanish_ms?: number;
  /** The script of the first `poll_count` polls of the task (default: of every poll). */
  readonly poll?: Script;
  readonly poll_count?: number;
  /** The same for downloads of its results. */
  readonly content?: Script;
  readonly content_count?: number;
  /** How many copies of each callback are sent. Default 1; with 0 it is lost. */
  readonly callbacks?: number;
  /** Ark's asset calls must be signed with this secret. */
  readonly ark_secret?: string;
}

const taskEnds = ["succeeded", "failed", "expired", "cancelled"] as const;

export type TaskEnd = (typeof taskEnds)[number];

const finishes = [
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "refusal",
  "stop_sequence",
  "pause",
  "failed",
] as const;

export type Finish = (typeof finishes)[number];

export class ScriptInvalid extends Error {
  override readonly name = "ScriptInvalid";
}

type Check = (value: unknown) => boolean;

const integer =
  (max: number, min = 0): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
const wait: Check = (value) => typeof value === "number" && value >= 0 && value <= bounds.waitMsMax;
const flag: Check = (value) => typeof value === "boolean";
const text: Check = (value) => typeof value === "string" && value.length <= bounds.scriptBytesMax;

/** One row per field, so that a misspelled field is refused and not ignored. */
const checks: { readonly [K in keyof Required<Script>]: Check } = {
  name: text,
  latency_ms: wait,
  first_event_ms: wait,
  event_ms: wait,
  tokens: integer(bounds.tokensMax),
  prompt_tokens: integer(1_000_000_000),
  cached_tokens: integer(1_000_000_000),
  cache_write_tokens: integer(1_000_000_000),
  cache_write_1h_tokens: integer(1_000_000_000),
  reasoning_tokens: integer(1_000_000_000),
  image_tokens: integer(1_000_000),
  reasoning_field: (value) => value === "reasoning_content" || value === "reasoning",
  tool_calls: integer(bounds.callsMax),
  tool_turns: integer(bounds.callsMax),
  preamble: flag,
  finish: (value) => finishes.some((finish) => finish === value),
  blocked: text,
  late_usage: flag,
  background_ms: wait,
  expires_in: integer(1_000_000),
  failed_images: integer(bounds.imagesMax),
  aws_secret: text,
  bad_checksum: flag,
  stall_after_events: integer(bounds.tokensMax),
  stall_ms: wait,
  cut_after_events: integer(bounds.tokensMax),
  reset_after_events: integer(bounds.tokensMax),
  end_after_events: integer(bounds.tokensMax),
  half_event: flag,
  break_chunking_after_events: integer(bounds.tokensMax),
  error_event_after: integer(bounds.tokensMax),
  status: integer(599, 200),
  retry_after: (value) => text(value) || wait(value),
  body: text,
  fail_first: integer(1_000_000),
  malformed: flag,
  no_usage: flag,
  zero_usage: flag,
  giant_event_bytes: integer(bounds.eventBytesMax),
  one_byte_chunks: flag,
  crlf: flag,
  keep_alive_comments: flag,
  keep_alive_ms: wait,
  done: flag,
  drop: flag,
  content_length_delta: integer(1_000_000, -1_000_000),
  raw_reply: text,
  headers: isHeaders,
  keep_received: flag,
  keep_sent: flag,
  answer_lost: (value) => value === "cut" || value === "reset" || value === "silent",
  error_code: text,
  error_message: text,
  queued_ms: wait,
  running_ms: wait,
  ends: (value) => taskEnds.some((end) => end === value),
  bills_cancelled: flag,
  odd_state: text,
  video_tokens: integer(1_000_000_000),
  video_bytes: integer(bounds.videoBytesMax),
  url_ms: wait,
  vanish_ms: wait,
  poll: isScript,
  poll_count: integer(1_000_000),
  content: isScript,
  content_count: integer(1_000_000),
  callbacks: integer(bounds.callbackCopiesMax),
  ark_secret: text,
};

export const emptyScript: Script = Object.freeze({});

/** Checks a script in parsed JSON. Throws ScriptInvalid with the name of the field. */
export function readScript(value: unknown): Script {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ScriptInvalid("a script must be a JSON object");
  }
  const script: Record<string, unknown> = {};
  for (const [name, input] of Object.entries(value)) {
    if (!isField(name)) throw new ScriptInvalid(`unknown script field ${JSON.stringify(name)}`);
    const field = fieldOf(name, input);
    if (!checks[name](field)) throw new ScriptInvalid(`script field ${name} must not be ${JSON.stringify(input)}`);
    script[name] = field;
  }
  return Object.freeze(script);
}

export function parseScript(source: string): Script {
  if (source.length > bounds.scriptBytesMax) throw new ScriptInvalid("the script is too long");
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new ScriptInvalid("the script is not JSON");
  }
  return readScript(value);
}

/** A body can be JSON, and a script inside a script is read as a script. */
function fieldOf(name: keyof Script, input: unknown): unknown {
  if (name === "body" && typeof input === "object") return JSON.stringify(input);
  return name === "poll" || name === "content" ? readScript(input) : input;
}

/** Only readScript() freezes a value. */
function isScript(value: unknown): boolean {
  return Object.isFrozen(value);
}

function isField(name: string): name is keyof Script {
  return Object.hasOwn(checks, name);
}

function isHeaders(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const rows = Object.entries(value);
  return rows.length <= 100 && rows.every(([name, line]) => /^[\w-]+$/.test(name) && isHeaderLine(line));
}

function isHeaderLine(line: unknown): boolean {
  return typeof line === "string" && line.length <= bounds.headBytesMax && !/[\r\n]/.test(line);
}
