import { bounds } from "./bounds.ts";

/**
 * What an upstream is told to do with one request. Everything is optional; an empty script is a healthy vendor.
 * `…_events` counts SSE events from the very first one (the role event of a chat is event 1): "after 0 events" is
 * after the status line. Times are milliseconds.
 */
export interface Script {
  /** Names the script for `fail_first`. */
  readonly name?: string;
  /** Silence before the status line. */
  readonly latency_ms?: number;
  /** Silence between the status line and the first event. */
  readonly first_event_ms?: number;
  /** Silence before each later event. */
  readonly event_ms?: number;
  /** Content events, and so output tokens, of each choice of plain text. */
  readonly tokens?: number;
  /** The whole prompt, cached and cache-written tokens included; told in the usage instead of the words counted. */
  readonly prompt_tokens?: number;
  /** Of the prompt, read from a cache. */
  readonly cached_tokens?: number;
  /** Of the prompt, written to a cache: for five minutes, and for an hour. */
  readonly cache_write_tokens?: number;
  readonly cache_write_1h_tokens?: number;
  /** Told in the output, beside the content events. Without it a request that asks for reasoning gets six, one for each word shown. */
  readonly reasoning_tokens?: number;
  /** Output tokens of each image. */
  readonly image_tokens?: number;
  /** Where a chat answer shows its reasoning, as some vendors of OpenAI's dialect do. */
  readonly reasoning_field?: "reasoning_content" | "reasoning";
  /** Calls this many of the request's tools, one after the other, unless a tool result came last. */
  readonly tool_calls?: number;
  /** In the text of a prompt: so many turns call a tool before the answer is text. Default 1. */
  readonly tool_turns?: number;
  /** With calls: text comes before them. */
  readonly preamble?: boolean;
  /** How the answer says it ended; each dialect has its own word. `failed` is a response.failed. */
  readonly finish?: Finish;
  /** The prompt is refused for this reason, in the way of vendors that have one (Gemini, Azure). */
  readonly blocked?: string;
  /** A streamed Messages answer tells zeros first and the real input counts only at the end. */
  readonly late_usage?: boolean;
  /** How long a background response stays unfinished. Default 50. */
  readonly background_ms?: number;
  /** Lifetime told with an access token, in seconds. */
  readonly expires_in?: number;
  /** Of the images asked for, this many fail (Seedream). */
  readonly failed_images?: number;
  /** Signatures of Bedrock calls must be made with this secret. */
  readonly aws_secret?: string;
  /** The third frame of an AWS event stream has a wrong checksum. */
  readonly bad_checksum?: boolean;
  /** Goes silent for `stall_ms` (default: until the caller leaves, an hour at most), then goes on. */
  readonly stall_after_events?: number;
  readonly stall_ms?: number;
  /** Closes the connection (FIN) in the middle of the body: neither a terminal event nor the end of the framing. */
  readonly cut_after_events?: number;
  /** The same with a reset (RST). */
  readonly reset_after_events?: number;
  /** Ends the HTTP answer cleanly although the stream is not over. */
  readonly end_after_events?: number;
  /** With cut, reset, end or stall: half of the next event leaves first. */
  readonly half_event?: boolean;
  /** Sends bytes that are no chunk header, then closes. */
  readonly break_chunking_after_events?: number;
  /** Sends an error event inside the 200 answer and ends without a terminal event. */
  readonly error_event_after?: number;
  /** Answers with this status; 400 and above are errors in the dialect's shape. */
  readonly status?: number;
  /** Seconds, or an HTTP date. */
  readonly retry_after?: number | string;
  /** The error body (or the whole JSON reply) instead of the usual one. */
  readonly body?: string;
  /** Fails (with `status`, else 500) until this many attempts with the same name (else the same body) were seen. */
  readonly fail_first?: number;
  /** Bad JSON: in the third event of a stream, or as the whole reply. */
  readonly malformed?: boolean;
  readonly no_usage?: boolean;
  readonly zero_usage?: boolean;
  /** Makes the first piece of content at least this large. */
  readonly giant_event_bytes?: number;
  /** Every byte is a chunk and a write of its own. */
  readonly one_byte_chunks?: boolean;
  /** Lines end in CR LF. */
  readonly crlf?: boolean;
  /** A comment line before every event of an SSE stream. */
  readonly keep_alive_comments?: boolean;
  /** A comment line (Messages: a ping) whenever a wait inside an SSE stream has lasted this long. */
  readonly keep_alive_ms?: number;
  /** False leaves out the terminal event (`[DONE]`, message_stop, response.completed, Gemini's last chunk). */
  readonly done?: boolean;
  /** Closes the connection without any answer. */
  readonly drop?: boolean;
  /** Added to the true content-length of a whole reply; the connection then closes. */
  readonly content_length_delta?: number;
  /** Written to the socket instead of any answer, one byte per character (Latin-1); the connection then closes. */
  readonly raw_reply?: string;
  /** More response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Keep the body received, or the body sent, in the truth. */
  readonly keep_received?: boolean;
  readonly keep_sent?: boolean;
  /** The request is taken and acted upon, but its answer never comes: a closed connection, or silence (`stall_ms`). */
  readonly answer_lost?: "cut" | "reset" | "silent";
  /** The code of a refusal by `status`, or of a task or an asset that fails; and the sentence beside it. */
  readonly error_code?: string;
  readonly error_message?: string;
  /** What follows is kept with the task that the request makes. How long it is queued (default 50) and runs (150). */
  readonly queued_ms?: number;
  readonly running_ms?: number;
  /** How it ends; assets know `succeeded` and `failed` only. */
  readonly ends?: TaskEnd;
  /** A task that is taken back while it runs is billed, as some vendors do. */
  readonly bills_cancelled?: boolean;
  /** Said in place of the vendor's own word as long as the task runs. */
  readonly odd_state?: string;
  /** Tokens (or another vendor's units) told at the end, instead of what the video's size gives. */
  readonly video_tokens?: number;
  /** Size of the video, when it is to be larger than the smallest. */
  readonly video_bytes?: number;
  /** How long links to results live, from the end of the task. Default a day. */
  readonly url_ms?: number;
  /** This long after it was made nobody knows the task any more. */
  readonly vanish_ms?: number;
  /** The script of the first `poll_count` looks at the task (default: of all). */
  readonly poll?: Script;
  readonly poll_count?: number;
  /** The same for downloads of its results. */
  readonly content?: Script;
  readonly content_count?: number;
  /** How often each callback is sent. Default 1; 0 means that it is lost. */
  readonly callbacks?: number;
  /** Signatures of Ark's asset calls must be made with this secret. */
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

const whole =
  (most: number, least = 0): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
const wait: Check = (value) => typeof value === "number" && value >= 0 && value <= bounds.waitMsMax;
const flag: Check = (value) => typeof value === "boolean";
const text: Check = (value) => typeof value === "string" && value.length <= bounds.scriptBytesMax;

/** One row per field, so that a mistyped field is refused and not passed over. */
const checks: { readonly [K in keyof Required<Script>]: Check } = {
  name: text,
  latency_ms: wait,
  first_event_ms: wait,
  event_ms: wait,
  tokens: whole(bounds.tokensMax),
  prompt_tokens: whole(1_000_000_000),
  cached_tokens: whole(1_000_000_000),
  cache_write_tokens: whole(1_000_000_000),
  cache_write_1h_tokens: whole(1_000_000_000),
  reasoning_tokens: whole(1_000_000_000),
  image_tokens: whole(1_000_000),
  reasoning_field: (value) => value === "reasoning_content" || value === "reasoning",
  tool_calls: whole(bounds.callsMax),
  tool_turns: whole(bounds.callsMax),
  preamble: flag,
  finish: (value) => finishes.some((finish) => finish === value),
  blocked: text,
  late_usage: flag,
  background_ms: wait,
  expires_in: whole(1_000_000),
  failed_images: whole(bounds.imagesMax),
  aws_secret: text,
  bad_checksum: flag,
  stall_after_events: whole(bounds.tokensMax),
  stall_ms: wait,
  cut_after_events: whole(bounds.tokensMax),
  reset_after_events: whole(bounds.tokensMax),
  end_after_events: whole(bounds.tokensMax),
  half_event: flag,
  break_chunking_after_events: whole(bounds.tokensMax),
  error_event_after: whole(bounds.tokensMax),
  status: whole(599, 200),
  retry_after: (value) => text(value) || wait(value),
  body: text,
  fail_first: whole(1_000_000),
  malformed: flag,
  no_usage: flag,
  zero_usage: flag,
  giant_event_bytes: whole(bounds.eventBytesMax),
  one_byte_chunks: flag,
  crlf: flag,
  keep_alive_comments: flag,
  keep_alive_ms: wait,
  done: flag,
  drop: flag,
  content_length_delta: whole(1_000_000, -1_000_000),
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
  video_tokens: whole(1_000_000_000),
  video_bytes: whole(bounds.videoBytesMax),
  url_ms: wait,
  vanish_ms: wait,
  poll: isScript,
  poll_count: whole(1_000_000),
  content: isScript,
  content_count: whole(1_000_000),
  callbacks: whole(bounds.callbackCopiesMax),
  ark_secret: text,
};

export const emptyScript: Script = Object.freeze({});

/** Reads a script out of parsed JSON. Throws ScriptInvalid, naming the field. */
export function readScript(value: unknown): Script {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ScriptInvalid("a script is a JSON object");
  }
  const script: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    if (!isField(name)) throw new ScriptInvalid(`unknown script field ${JSON.stringify(name)}`);
    const field = fieldOf(name, given);
    if (!checks[name](field)) throw new ScriptInvalid(`script field ${name} does not take ${JSON.stringify(given)}`);
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

/** A body may be given as JSON, a script inside a script is read as one. */
function fieldOf(name: keyof Script, given: unknown): unknown {
  if (name === "body" && typeof given === "object") return JSON.stringify(given);
  return name === "poll" || name === "content" ? readScript(given) : given;
}

/** It was read, so it is one. */
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
