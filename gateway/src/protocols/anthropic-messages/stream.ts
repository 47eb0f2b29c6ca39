import { noUsage, type Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { invalidFirstEvent } from "../errors/upstream-errors.ts";
import { ascii, concat, emptyBytes } from "../json/bytes.ts";
import { closingQuote, QUOTE } from "../json/cursor.ts";
import { isObject, type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";
import { eventWithoutMedia } from "../stream/event-media.ts";
import { EventTap, eventData, firstField, pieceTokens } from "../stream/sse-events.ts";
import { readServed } from "../usage/read-served.ts";
import { messagesFailure } from "./error.ts";
import { containerIn, mergeUsage, readMessagesUsage } from "./reply.ts";

const knownTypes: ReadonlySet<string> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
]);
const decodedTypes: ReadonlySet<string> = new Set(["message_start", "message_delta", "error"]);
const typeMark = ascii('"type":"');
const contentMarks = [
  ascii('"text":"'),
  ascii('"partial_json":"'),
  ascii('"thinking":"'),
  // Deltas without text. Matching them saves a parse.
  ascii('"signature":"'),
  ascii('"citation":{'),
];
const textMarks = 3;
const fallbackMark = ascii('"fallback"');
const serverToolMark = ascii('"server_tool_use"');
const lineEnd = ascii("\n\n");
/** Watches message events. Only the first event, usage and errors are parsed. */
export class MessagesStreamTap extends EventTap implements StreamTap {
  ended = false;
  usageFinal = false;
  errorUnreadable = false;
  id: string | null = null;
  createdIds: readonly string[] = [];

  #reported: JsonObject = {};
  #usage: UsageReading | null = null;
  #model: unknown;
  #searches = 0;
  #rest: Uint8Array = emptyBytes;

  get served(): Served | undefined {
    return readServed({ model: this.#model }, this.#reported);
  }

  get usage(): UsageReading | null {
    if (this.usageFinal || this.#searches === 0) return this.#usage;
    const { usage, raw, ...rest } = this.#usage ?? noUsageReported;
    return { ...rest, raw, usage: { ...usage, webSearches: Math.max(usage.webSearches, this.#searches) } };
  }

  /** Whether message_stop arrived. If only its blank line is missing, `rest` returns that line. */
  complete(): boolean {
    const { held } = this.sse;
    if (this.ended || held.length === 0) return this.ended;
    const event = parseObject(eventData(held, 0, held.length));
    if (event?.["type"] !== "message_stop") return false;
    this.events++;
    this.ended = true;
    this.#rest = concat(held, lineEnd);
    return true;
  }

  override rest(): Uint8Array {
    return this.#rest;
  }

  protected override inspect(bytes: Uint8Array, start: number, end: number): void {
    const event = eventWithoutMedia(bytes, start, end) ?? fieldsOf(bytes, start, end);
    if (this.ended || !mayHoldData(event)) return;
    const named = quickType(event);
    if (named === "ping") return;
    let whole: JsonObject | null = null;
    if (named === null || this.events === 0 || decodedTypes.has(named)) {
      const data = eventData(event, 0, event.length);
      if (data === "") return;
      whole = parseObject(data);
    }
    const type = named ?? textOf(whole?.["type"]);
    if (type === "ping") return;
    if (this.events === 0 && whole === null) throw invalidFirstEvent();
    this.events++;
    if (type === "content_block_start" && !this.contentSeen) this.#noteContent(event);
    if (type === "content_block_delta") this.#countContent(event);
    else if (type === "content_block_start" && mayBeMarked(event)) this.#readBlock(event);
    else if (type === "message_stop") this.ended = true;
    else if (whole !== null) this.#read(type, whole);
  }

  #read(type: string | null, event: JsonObject): void {
    if (type === "message_start") this.#readStart(objectOf(event["message"]));
    else if (type === "message_delta") {
      this.#madeIn(event["delta"]);
      this.#report(event["usage"]);
      if (isObject(event["usage"])) this.usageFinal = this.#usage !== null;
    } else if (type === "error" || (type === null && isObject(event["error"]))) {
      this.failure = messagesFailure(event["error"]);
      this.errorUnreadable = type === null;
    }
  }

  #readStart(message: JsonObject): void {
    this.id = textOf(message["id"]);
    this.#model = message["model"];
    this.#madeIn(message);
    this.#report(message["usage"]);
  }

  #madeIn(message: unknown): void {
    const made = containerIn(objectOf(message)["container"]);
    if (made.length > 0) this.createdIds = made;
  }

  #report(usage: unknown): void {
    if (!isObject(usage)) return;
    this.#reported = mergeUsage(this.#reported, usage);
    this.#usage = readMessagesUsage(this.#reported);
  }

  /** Usage reports searches and a fallback model only at the end. */
  #readBlock(event: Buffer): void {
    const block = blockIn(event);
    if (block["type"] === "server_tool_use" && block["name"] === "web_search") this.#searches++;
    if (block["type"] === "fallback") this.#model = objectOf(block["to"])["model"] ?? this.#model;
  }

  /** Text and thinking blocks start empty; others are content themselves. */
  #noteContent(event: Buffer): void {
    const { type } = blockIn(event);
    this.contentSeen = type !== "text" && type !== "thinking";
  }

  #countContent(event: Buffer): void {
    for (const [index, mark] of contentMarks.entries()) {
      const at = event.indexOf(mark);
      if (at === -1) continue;
      if (index < textMarks) this.#count(closingQuote(event, at + mark.length) - at - mark.length);
      else this.contentSeen = true;
      return;
    }
    // Formatted differently than by Anthropic.
    const delta = objectOf(parseObject(eventData(event, 0, event.length))?.["delta"]);
    this.#count(textOf(delta["text"] ?? delta["partial_json"] ?? delta["thinking"])?.length ?? 0);
  }

  #count(length: number): void {
    if (length <= 0) return;
    this.contentSeen = true;
    this.outputEstimate += pieceTokens(length);
  }
}

const noUsageReported: UsageReading = { usage: noUsage, raw: "{}", missingSide: "both" };

function mayBeMarked(event: Buffer): boolean {
  return event.includes(serverToolMark) || event.includes(fallbackMark);
}

function blockIn(event: Buffer): JsonObject {
  return objectOf(parseObject(eventData(event, 0, event.length))?.["content_block"]);
}

function fieldsOf(bytes: Uint8Array, start: number, end: number): Buffer {
  const from = firstField(bytes, start, end);
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from);
}

/** False for comments and blank lines. */
function mayHoldData(event: Buffer): boolean {
  return event.length > 0 && event[0] !== 0x0a && event[0] !== 0x0d;
}

/** The type from the event's name or the first `type` in its data. Null if it must be parsed. */
function quickType(event: Buffer): string | null {
  let from: number;
  let end: number;
  if (event[0] === 0x65) {
    from = event[6] === 0x20 ? 7 : 6;
    end = from;
    while (end < event.length && event[end] !== 0x0a && event[end] !== 0x0d) end++;
  } else {
    const at = event.indexOf(typeMark);
    if (at === -1) return null;
    from = at + typeMark.length;
    end = event.indexOf(QUOTE, from);
  }
  if (end - from > 32) return null;
  const name = event.toString("latin1", from, end);
  return knownTypes.has(name) ? name : null;
}
