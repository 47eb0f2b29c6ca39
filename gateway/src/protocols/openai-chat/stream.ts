import type { Failure } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { parseObject } from "../json-value.ts";
import { eventData, SseEvents } from "../sse-events.ts";
import { errorReported, firstEventBroken } from "../upstream-broke.ts";
import { errorText } from "./reply.ts";
import { readChatUsage } from "./usage.ts";

const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
const doneMark = ascii("[DONE]");
const usageMark = ascii('"usage"');
const choicesMark = ascii('"choices"');
const finishMark = ascii('"finish_reason"');
const contentMarks = [
  ascii('"content":"'),
  ascii('"arguments":"'),
  ascii('"reasoning_content":"'),
  ascii('"content": "'),
];
const emptyBytes = new Uint8Array(0);

/** Listens to chat.completion.chunk events. Nothing is decoded but the first event, usage and errors. */
export class ChatStreamTap implements StreamTap {
  events = 0;
  ended = false;
  contentSeen = false;
  usage: UsageReading | null = null;
  failure: Failure | null = null;
  outputEstimate = 0;
  /** Chat completions are not kept under their ids. */
  readonly id = null;

  readonly #hideUsage: boolean;
  readonly #marks: readonly Buffer[];
  readonly #sse = new SseEvents();
  #hidden: { start: number; end: number }[] = [];
  #finished = false;
  /** The usage came behind the content, in an event without choices. */
  #toldAlone = false;
  /** Something was generated after the usage that was told last. */
  #contentSince = false;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.#inspect(bytes, start, end);

  /** `marks`: what stands before generated text in a chunk. */
  constructor(hideUsage: boolean, marks: readonly Buffer[] = contentMarks) {
    this.#hideUsage = hideUsage;
    this.#marks = marks;
  }

  push(chunk: Uint8Array): Uint8Array {
    const whole = this.#sse.push(chunk, this.#visit);
    return this.#hidden.length === 0 ? whole : this.#withoutHidden(whole);
  }

  /** Most tell it once, at the end. Some tell it with each event, or zeros first: what came after the last is not in it. */
  get usageFinal(): boolean {
    return this.usage !== null && !this.#contentSince && (this.#finished || this.ended || this.#toldAlone);
  }

  rest(): Uint8Array {
    return emptyBytes;
  }

  /** [DONE], or a finish reason for vendors that send no [DONE]. */
  complete(): boolean {
    const held = this.#sse.held;
    if (!this.ended && held.length > 0 && Buffer.from(held.buffer, held.byteOffset, held.length).includes(doneMark)) {
      this.ended = true;
    }
    return this.ended || this.#finished;
  }

  #inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended || !isData(bytes, start)) return;
    const event = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    this.events++;
    if (event.length < 24 && event.includes(doneMark)) {
      this.ended = true;
      return;
    }
    if (this.events === 1) requireJson(bytes, start, end);
    const hasChoices = event.includes(choicesMark);
    if (hasChoices) {
      this.#countContent(event);
      if (!this.#finished) this.#finished = hasFinishReason(event);
    }
    const usageAt = event.indexOf(usageMark);
    if (usageAt !== -1 && opensObject(event, usageAt + usageMark.length)) this.#readUsage(bytes, start, end);
    if (!hasChoices) this.#readError(bytes, start, end);
  }

  /** Output is generated a token or a few at an event: short pieces count one, longer ones a token per four bytes. */
  #countContent(event: Buffer): void {
    for (const mark of this.#marks) {
      const at = event.indexOf(mark);
      if (at === -1) continue;
      const from = at + mark.length;
      const length = event.indexOf(0x22, from) - from;
      if (length <= 0) continue;
      this.contentSeen = true;
      this.#contentSince = true;
      this.outputEstimate += length <= 16 ? 1 : Math.ceil(length / 4);
      return;
    }
  }

  #readUsage(bytes: Uint8Array, start: number, end: number): void {
    const chunk = parseObject(eventData(bytes, start, end));
    if (chunk === null) return;
    const reading = readChatUsage(chunk["usage"]);
    if (reading === null) return;
    this.usage = reading;
    this.#contentSince = false;
    const choices = chunk["choices"];
    this.#toldAlone = this.contentSeen && (!Array.isArray(choices) || choices.length === 0);
    if (this.#hideUsage && Array.isArray(choices) && choices.length === 0) this.#hidden.push({ start, end });
  }

  #readError(bytes: Uint8Array, start: number, end: number): void {
    const chunk = parseObject(eventData(bytes, start, end));
    const error = chunk?.["error"];
    if (error === undefined || error === null) return;
    this.failure = errorReported(errorText(error));
  }

  #withoutHidden(whole: Uint8Array): Uint8Array {
    const hidden = this.#hidden;
    this.#hidden = [];
    const kept: Uint8Array[] = [];
    let from = 0;
    for (const range of hidden) {
      if (range.start > from) kept.push(whole.subarray(from, range.start));
      from = range.end;
    }
    if (from < whole.length) kept.push(whole.subarray(from));
    if (kept.length === 0) return emptyBytes;
    return kept.length === 1 ? (kept[0] ?? emptyBytes) : Buffer.concat(kept);
  }
}

/** True for an event that begins with a data line; vendors that name their events begin with `event:`. */
function isData(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start];
  return first === 0x64 || first === 0x65 || first === 0x69;
}

function opensObject(event: Buffer, from: number): boolean {
  let at = from;
  while (event[at] === 0x20 || event[at] === 0x3a) at++;
  return event[at] === 0x7b;
}

function hasFinishReason(event: Buffer): boolean {
  const at = event.indexOf(finishMark);
  if (at === -1) return false;
  let from = at + finishMark.length;
  while (event[from] === 0x20 || event[from] === 0x3a) from++;
  return event[from] === 0x22;
}

function requireJson(bytes: Uint8Array, start: number, end: number): void {
  if (parseObject(eventData(bytes, start, end)) !== null) return;
  throw firstEventBroken();
}
