import type { Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { choiceError, invalidFirstEvent } from "../errors/upstream-errors.ts";
import { ascii, emptyBytes } from "../json/bytes.ts";
import { closingQuote, OPEN_ARRAY, OPEN_OBJECT, QUOTE, type Span } from "../json/cursor.ts";
import { arrayOf, type JsonObject, objectOf, parseObject } from "../json/value.ts";
import { eventWithoutMedia } from "../stream/event-media.ts";
import { dataEvent, EventTap, eventData, eventLines, isDone, pieceTokens } from "../stream/sse-events.ts";
import { readServed, withServed } from "../usage/read-served.ts";
import type { UsageConvention } from "../usage/reading.ts";
import { audioIdsIn, chatFailure } from "./reply.ts";
import { readChatUsage } from "./usage.ts";

const doneMark = ascii("[DONE]");
const usageMark = ascii('"usage"');
const choicesMark = ascii('"choices"');
const finishMark = ascii('"finish_reason"');
const errorMark = ascii('"error"');
const baseMark = ascii('"base_resp"');
const textMark = ascii('"text":');
const argumentsMark = ascii('"arguments":');
const contentMarks = [
  ascii('"content":'),
  argumentsMark,
  ...["reasoning_content", "reasoning", "refusal"].map((name) => ascii(`"${name}":`)),
];
/** Members with content other than text: calls without arguments, pictures, audio, sealed reasoning. */
const otherMarks = ["tool_calls", "function_call", "images", "audio", "reasoning_details"].map((name) =>
  ascii(`"${name}":`),
);
/** An event with only [DONE] is always shorter. */
const doneEventMax = 64;

/** Watches chat.completion.chunk events. Only the first event, usage and errors are parsed. */
export class ChatStreamTap extends EventTap implements StreamTap {
  ended = false;
  usage: UsageReading | null = null;
  served: Served | undefined;
  errorUnreadable = false;
  /** Chat completions are not stored. */
  readonly id = null;
  /** Audio is named by its first chunk. */
  createdIds: readonly string[] = [];

  readonly #hideUsage: boolean;
  readonly #marks: readonly Buffer[];
  readonly #convention: UsageConvention | undefined;
  /** Ranges of the pushed events that the caller does not get. */
  #hidden: Span[] | null = null;
  #finished = false;
  /** Usage came after the content, in an event without choices. */
  #usageAlone = false;
  /** Content followed the last usage. */
  #contentAfterUsage = false;

  /** `marks`: members with generated text; the first with content counts. */
  constructor(hideUsage: boolean, convention?: UsageConvention, marks: readonly Buffer[] = contentMarks) {
    super();
    this.#hideUsage = hideUsage;
    this.#marks = marks;
    this.#convention = convention;
  }

  override push(chunk: Uint8Array): Uint8Array {
    const whole = super.push(chunk);
    const hidden = this.#hidden;
    this.#hidden = null;
    return hidden === null ? whole : withoutHidden(whole, hidden);
  }

  /** Some vendors report usage with each event, or zeros first. Content after the last report is not included. */
  get usageFinal(): boolean {
    return this.usage !== null && !this.#contentAfterUsage && (this.#finished || this.ended || this.#usageAlone);
  }

  /** [DONE], or a finish reason for vendors without [DONE]. */
  complete(): boolean {
    const held = this.sse.held;
    if (!this.ended && held.length > 0 && Buffer.from(held.buffer, held.byteOffset, held.length).includes(doneMark)) {
      this.ended = true;
    }
    return this.ended || this.#finished;
  }

  protected inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended) return;
    const event = eventWithoutMedia(bytes, start, end) ?? dataEvent(bytes, start, end);
    if (event === null) return;
    if (this.errorUnreadable) {
      // Nothing may precede the error that the caller gets instead.
      this.#hide({ start, end });
      return;
    }
    this.events++;
    if (event.length < doneEventMax && event.includes(doneMark) && isDone(eventLines(event, 0, event.length).data)) {
      this.ended = true;
      return;
    }
    if (this.events === 1) this.served = readServed(firstChunk(event), null);
    if (event.includes(choicesMark)) this.#updateFinished(event);
    const usageAt = event.indexOf(usageMark);
    if (usageAt !== -1 && opensObject(event, usageAt + usageMark.length)) this.#readUsage(event, { start, end });
    if (event.includes(errorMark) || (!this.contentSeen && event.includes(baseMark))) this.#readError(event);
    if (this.errorUnreadable) this.#hide({ start, end });
  }

  #hide(span: Span): void {
    this.#hidden ??= [];
    this.#hidden.push(span);
  }

  /** With several choices the stream ends only after the last. */
  #updateFinished(event: Buffer): void {
    const hasContent = this.#countContent(event);
    if (hasFinishReason(event)) this.#finished = true;
    else if (hasContent) this.#finished = false;
  }

  #countContent(event: Buffer): boolean {
    for (const mark of this.#marks) {
      const tokens = tokensAfter(event, mark);
      if (tokens === 0) continue;
      this.contentSeen = true;
      this.#contentAfterUsage = true;
      this.outputEstimate += tokens;
      return true;
    }
    if (!this.contentSeen && otherMarks.some((mark) => isFilled(event, mark))) {
      this.contentSeen = true;
      this.createdIds = audioIdsIn(event);
    }
    return false;
  }

  #readUsage(event: Buffer, span: Span): void {
    const chunk = chunkOf(event);
    if (chunk === null) return;
    const choices = chunk["choices"];
    const reported = chunk["usage"] ?? usageInChoice(choices);
    const reading = readChatUsage(reported, this.#convention);
    if (reading === null) return;
    this.usage = reading;
    // The first chunk has the requested tier, the last one the served tier.
    const { tier, ...others } = this.served ?? {};
    const reportsTier = tier === undefined || chunk["service_tier"] != null;
    this.served = withServed(readServed(chunk, reported), reportsTier ? others : this.served);
    this.#contentAfterUsage = false;
    this.#usageAlone = this.contentSeen && (!Array.isArray(choices) || choices.length === 0);
    if (this.#hideUsage && Array.isArray(choices) && choices.length === 0) this.#hide(span);
  }

  /** OpenRouter puts errors next to choices. Older vLLM sends a bare error event, which is hidden because clients cannot read it. */
  #readError(event: Buffer): void {
    const chunk = chunkOf(event);
    const error = chunk?.["error"] ?? null;
    if (chunk === null) return;
    const unframed = error === null ? (chunk["object"] === "error" ? chunk : choiceError(chunk)) : null;
    if (error === null && unframed === null) return;
    this.failure = chatFailure(error ?? unframed);
    this.errorUnreadable = unframed !== null;
  }
}

function withoutHidden(whole: Uint8Array, hidden: readonly Span[]): Uint8Array {
  const visible: Uint8Array[] = [];
  let from = 0;
  for (const range of hidden) {
    if (range.start > from) visible.push(whole.subarray(from, range.start));
    from = range.end;
  }
  if (from < whole.length) visible.push(whole.subarray(from));
  if (visible.length === 0) return emptyBytes;
  return visible.length === 1 ? (visible[0] ?? emptyBytes) : Buffer.concat(visible);
}

/** Moonshot puts usage into the last choice. */
function usageInChoice(choices: unknown): unknown {
  return arrayOf(choices)
    .map((choice) => objectOf(choice)["usage"])
    .find((usage) => (usage ?? null) !== null);
}

/** Counts the first such member, or all arguments, since calls may come whole. Mistral's content is a list of parts. */
function tokensAfter(event: Buffer, mark: Buffer): number {
  let tokens = 0;
  for (let at = event.indexOf(mark); at !== -1; at = event.indexOf(mark, at)) {
    at += mark.length;
    while (event[at] === 0x20) at++;
    if (event[at] === OPEN_ARRAY && mark !== textMark) return tokensAfter(event.subarray(at), textMark);
    if (event[at] === QUOTE) {
      const from = at + 1;
      at = closingQuote(event, from);
      tokens += pieceTokens(at - from);
    }
    if (mark !== argumentsMark && mark !== textMark) return tokens;
  }
  return tokens;
}

/** Whether a non-empty list or object follows the mark. */
function isFilled(event: Buffer, mark: Buffer): boolean {
  let at = event.indexOf(mark);
  if (at === -1) return false;
  at += mark.length;
  while (event[at] === 0x20) at++;
  // Closing brackets are two above opening ones in ASCII.
  const opening = event[at];
  return (opening === OPEN_ARRAY || opening === OPEN_OBJECT) && event[at + 1] !== opening + 2;
}

function opensObject(event: Buffer, from: number): boolean {
  let at = from;
  while (event[at] === 0x20 || event[at] === 0x3a) at++;
  return event[at] === OPEN_OBJECT;
}

function hasFinishReason(event: Buffer): boolean {
  for (let at = event.indexOf(finishMark); at !== -1; at = event.indexOf(finishMark, at)) {
    at += finishMark.length;
    while (event[at] === 0x20 || event[at] === 0x3a) at++;
    if (event[at] === QUOTE) return true;
  }
  return false;
}

function firstChunk(event: Buffer): JsonObject {
  const chunk = chunkOf(event);
  if (chunk === null) throw invalidFirstEvent();
  return chunk;
}

function chunkOf(event: Buffer): JsonObject | null {
  return parseObject(eventData(event, 0, event.length));
}
