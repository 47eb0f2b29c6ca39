import { bounds, type Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { invalidFirstEvent } from "../errors/upstream-errors.ts";
import { asBuffer, ascii } from "../json/bytes.ts";
import { closingQuote, QUOTE } from "../json/cursor.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseFirst, parseObject, textOf } from "../json/value.ts";
import { eventWithoutMedia } from "../stream/event-media.ts";
import { dataEvent, EventTap, eventData } from "../stream/sse-events.ts";
import { readServed, withServed } from "../usage/read-served.ts";
import { maxToolUse, noServerTools } from "../usage/reading.ts";
import { geminiFailure } from "./error.ts";
import { blockReasonOf, isFinishReason } from "./read-events.ts";
import { groundingIn, mayBeGrounded, readGeminiUsage } from "./usage.ts";

const candidatesMark = ascii('"candidates"');
const usageMark = ascii('"usageMetadata"');
const finishMark = ascii('"finishReason"');
const unspecified = ascii("FINISH_REASON_UNSPECIFIED");
const argumentsMark = ascii('"args"');
const partialArgumentsMark = ascii('"partialArgs"');
const textMark = ascii('"text"');
const inlineMark = ascii('"inlineData"');
const errorMark = ascii('"error"');
const nextLineMark = ascii("\ndata:");
/** Tokens of a generated picture (Gemini API docs, "Image generation"), if none are reported. */
const pictureTokens = 1_290;

/**
 * Watches GenerateContentResponse events. There is no terminal event: a finish reason marks a complete answer. Usage is on
 * every event and the last counts, so its text is kept and parsed on demand. Quoted member names cannot occur in text, only in a call's
 * arguments. Therefore events are parsed if they have arguments, come before the first content or have no candidates; others are searched
 * for marks.
 */
export class GeminiStreamTap extends EventTap implements StreamTap {
  id: string | null = null;
  readonly ended = false;

  #finished = false;
  /** From `"usageMetadata"` to the end of its line. */
  #usageTail: string | null = null;
  #usage: UsageReading | null = null;
  #served: Served | undefined;
  /** Content followed the last usage. */
  #contentAfterUsage = false;
  #grounding = noServerTools;
  #counted = 0;

  get served(): Served | undefined {
    this.#readTail();
    return this.#served;
  }

  get usage(): UsageReading | null {
    this.#readTail();
    if (this.#grounding === noServerTools) return this.#usage;
    if (this.#usage === null) return readGeminiUsage(null, this.#grounding);
    return { ...this.#usage, usage: { ...this.#usage.usage, ...this.#grounding } };
  }

  #readTail(): void {
    if (this.#usageTail === null) return;
    const tail = parseObject(`{${this.#usageTail}`);
    this.#usageTail = null;
    if (tail !== null) this.#readUsage(tail);
  }

  #readUsage({ usageMetadata, modelVersion = this.#served?.model }: JsonObject): boolean {
    const usage = readGeminiUsage(usageMetadata);
    if (usage !== null) this.#usage = usage;
    const served = readServed({ modelVersion }, usageMetadata);
    this.#served = usage === null ? withServed(served, this.#served) : served;
    return usage !== null;
  }

  /** Usage reported before the last content does not include it. */
  get usageFinal(): boolean {
    return this.#finished && !this.#contentAfterUsage && this.usage !== null;
  }

  complete(): boolean {
    // An error within a stream may also be plain JSON.
    const { held } = this.sse;
    if (held.length > 0 && this.failure === null && asBuffer(held).includes(errorMark)) {
      const plain = parseFirst(held);
      if (plain?.["error"] !== undefined) this.failure = geminiFailure(plain["error"]);
    }
    return this.#finished;
  }

  protected override inspect(bytes: Uint8Array, start: number, end: number): void {
    const event = eventWithoutMedia(bytes, start, end) ?? dataEvent(bytes, start, end);
    if (event === null) return;
    this.events++;
    const isBuilt = !this.contentSeen && event.length <= bounds.eventJsonBytesMax;
    if (isBuilt || !isPlain(event)) {
      this.#readWhole(event);
      return;
    }
    const before = this.#counted;
    this.#countTexts(event);
    if (event.includes(inlineMark)) this.#count(pictureTokens);
    this.#updateFinished(finishes(event), this.#counted > before);
    const usageAt = event.lastIndexOf(usageMark);
    if (usageAt === -1) return;
    this.#usageTail = lineFrom(event, usageAt);
    this.#contentAfterUsage = false;
  }

  #readWhole(event: Uint8Array): void {
    const response = parseFirst(eventData(event, 0, event.length));
    if (response === null) {
      if (this.events === 1) throw invalidFirstEvent();
      return;
    }
    if (response["error"] !== undefined && response["error"] !== null) {
      this.failure = geminiFailure(response["error"]);
      return;
    }
    this.id ??= textOf(response["responseId"]);
    if (blockReasonOf(response["promptFeedback"]) !== null) this.#finished = true;
    const candidates = arrayOf(response["candidates"]);
    for (const candidate of candidates) this.#readCandidate(objectOf(candidate));
    // Reported once with the last text, or on each event.
    this.#grounding = maxToolUse(this.#grounding, groundingIn(candidates, response["modelVersion"]));
    if (!this.#readUsage(response)) return;
    this.#usageTail = null;
    this.#contentAfterUsage = false;
  }

  /** With several candidates the stream ends only after the last. */
  #updateFinished(isEnd: boolean, hasContent: boolean): void {
    if (isEnd) this.#finished = true;
    else if (hasContent) this.#finished = false;
  }

  #readCandidate(candidate: JsonObject): void {
    const before = this.#counted;
    for (const part of arrayOf(objectOf(candidate["content"])["parts"])) {
      const { text, functionCall, inlineData, ...more } = objectOf(part);
      if (Object.keys(more).some((name) => name !== "thought")) this.contentSeen = true;
      if (typeof text === "string" && text !== "") this.#countText(text.length);
      if (isObject(functionCall)) this.#countText(callLength(functionCall));
      if (isObject(inlineData)) this.#count(pictureTokens);
    }
    this.#updateFinished(isFinishReason(candidate["finishReason"]), this.#counted > before);
  }

  #countTexts(event: Buffer): void {
    for (let at = event.indexOf(textMark); at !== -1; at = event.indexOf(textMark, at)) {
      at += textMark.length;
      while (event[at] === 0x20 || event[at] === 0x3a) at++;
      if (event[at] !== QUOTE) continue;
      const from = at + 1;
      at = closingQuote(event, from);
      if (at > from) this.#countText(at - from);
    }
  }

  #countText(length: number): void {
    this.#count(Math.ceil(length / 4));
  }

  #count(tokens: number): void {
    this.#counted++;
    this.contentSeen = true;
    this.#contentAfterUsage = true;
    this.outputEstimate += tokens;
  }
}

/** Marks suffice: one line, candidates, and no member names chosen by the model. */
function isPlain(event: Buffer): boolean {
  const named = event.includes(argumentsMark) || event.includes(partialArgumentsMark) || mayBeGrounded(event);
  return event.includes(candidatesMark) && !named && !event.includes(nextLineMark);
}

/** A whole call or a piece of one, without its name. */
function callLength({ args, partialArgs }: JsonObject): number {
  const pieces = arrayOf(partialArgs).map((piece) => {
    const { stringValue, numberValue, boolValue } = objectOf(piece);
    return String(stringValue ?? numberValue ?? boolValue ?? "").length;
  });
  const whole = pieces.length > 0 && args === undefined ? 0 : JSON.stringify(args ?? {}).length + 8;
  return pieces.reduce((sum, length) => sum + length, whole);
}

function lineFrom(event: Buffer, at: number): string {
  const end = event.indexOf(0x0a, at);
  return event.toString("latin1", at, end === -1 ? event.length : end);
}

function finishes(event: Buffer): boolean {
  const at = event.indexOf(finishMark);
  if (at === -1) return false;
  let from = at + finishMark.length;
  while (event[from] === 0x20 || event[from] === 0x3a) from++;
  return event[from] === QUOTE && !event.subarray(from + 1, from + 1 + unspecified.length).equals(unspecified);
}
