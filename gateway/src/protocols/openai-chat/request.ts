import { bounds, Failure } from "#core/index.ts";
import { splice } from "../bytes.ts";
import type { RequestFacts } from "../dialect.ts";
import { JsonInvalid, readSpan, type Span, scanObject } from "../json-scan.ts";

const wanted: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
]);
const wantedOption: ReadonlySet<string> = new Set(["include_usage"]);

/** Reads what governs a chat-completions request. Source: OpenAI API reference, "Create chat completion". */
export function readChatRequest(body: Uint8Array): RequestFacts {
  const members = scan(body, wanted);
  const modelSpan = members.get("model");
  if (modelSpan === undefined) throw missing("model");
  const model = readSpan(body, modelSpan);
  if (typeof model !== "string") throw wrong("model", "must be a string");
  if (model === "") throw missing("model");
  if (model.length > bounds.modelNameBytesMax) throw wrong("model", "is longer than any model's name");

  const messages = members.get("messages");
  if (messages === undefined) throw missing("messages");
  if (body[messages.start] !== 0x5b) throw wrong("messages", "must be an array");
  if (isEmptyArray(body, messages)) throw wrong("messages", "must hold at least one message");

  const stream = readBoolean(body, members.get("stream"), "stream");
  const options = members.get("stream_options");
  const wantsUsage = options !== undefined && body[options.start] === 0x7b && asksUsage(body, options);
  const cap = readCount(body, members.get("max_completion_tokens")) ?? readCount(body, members.get("max_tokens"));
  const choices = readCount(body, members.get("n")) ?? 1;
  return {
    model,
    modelSpan,
    stream,
    wantsUsage,
    outputTokensMax: cap === null ? null : cap * Math.max(1, choices),
    inputEstimate: Math.ceil((messages.end - messages.start) / 4),
    streamOptionsSpan: options ?? null,
  };
}

/** Replaces the model's name and, in a stream whose caller did not ask for usage, asks for it. */
export function patchChatRequest(body: Uint8Array, facts: RequestFacts, upstreamModel: string): Uint8Array {
  const edits: { start: number; end: number; text: string }[] = [];
  if (upstreamModel !== facts.model) {
    edits.push({ start: facts.modelSpan.start, end: facts.modelSpan.end, text: JSON.stringify(upstreamModel) });
  }
  if (facts.stream && !facts.wantsUsage) edits.push(usageEdit(body, facts.streamOptionsSpan));
  if (edits.length === 0) return body;
  return splice(
    body,
    edits.sort((one, other) => one.start - other.start),
  );
}

/** Where and how `include_usage` is asked for: in the caller's own options if it sent some. */
function usageEdit(body: Uint8Array, options: Span | null): { start: number; end: number; text: string } {
  if (options === null) {
    const open = body.indexOf(0x7b) + 1;
    return { start: open, end: open, text: '"stream_options":{"include_usage":true},' };
  }
  if (body[options.start] !== 0x7b) return { ...options, text: '{"include_usage":true}' };
  const inner = body.subarray(options.start, options.end);
  const present = scanObject(inner, wantedOption).get("include_usage");
  if (present !== undefined) {
    return { start: options.start + present.start, end: options.start + present.end, text: "true" };
  }
  const empty = Object.keys(readSpan(body, options) as object).length === 0;
  const at = options.start + 1;
  return { start: at, end: at, text: empty ? '"include_usage":true' : '"include_usage":true,' };
}

function asksUsage(body: Uint8Array, options: Span): boolean {
  const inner = body.subarray(options.start, options.end);
  const span = scan(inner, wantedOption).get("include_usage");
  return span !== undefined && readSpan(inner, span) === true;
}

function scan(bytes: Uint8Array, names: ReadonlySet<string>): Map<string, Span> {
  try {
    return scanObject(bytes, names);
  } catch (thrown) {
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    throw new Failure("invalid_json", `The body is not a valid JSON object: ${thrown.message}.`);
  }
}

function readBoolean(body: Uint8Array, span: Span | undefined, param: string): boolean {
  if (span === undefined) return false;
  const value = readSpan(body, span);
  if (value === null) return false;
  if (typeof value !== "boolean") throw wrong(param, "must be true or false");
  return value;
}

/** A count that governs a reservation; anything else is the upstream's to judge. */
function readCount(body: Uint8Array, span: Span | undefined): number | null {
  if (span === undefined || span.end - span.start > 15) return null;
  const value = readSpan(body, span);
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function isEmptyArray(body: Uint8Array, span: Span): boolean {
  for (let at = span.start + 1; at < span.end - 1; at++) if ((body[at] ?? 0) > 0x20) return false;
  return true;
}

function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `The parameter "${param}" is missing.`, { param });
}

function wrong(param: string, why: string): Failure {
  return new Failure("invalid_request", `The parameter "${param}" ${why}.`, { param });
}
