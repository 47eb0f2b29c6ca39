import type { Failure, Served } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { invalidFirstEvent } from "../errors/upstream-errors.ts";
import { decodeText, emptyBytes, encodeText } from "../json/bytes.ts";
import { closingQuote, QUOTE, type Span } from "../json/cursor.ts";
import { readSpan } from "../json/scan.ts";
import { skimObject } from "../json/skim.ts";
import { objectOf, parseObject, textOf } from "../json/value.ts";
import { dataWithoutMedia } from "../stream/event-media.ts";
import { type EventLines, EventTap, eventLines, pieceTokens } from "../stream/sse-events.ts";
import { readServed } from "../usage/read-served.ts";
import { maxToolUse, OutputTools } from "../usage/reading.ts";
import { bareFailedResponse, failureEvents, responsesFailure } from "./error.ts";
import { imageToolModel, itemId, itemIds, storedItemIdsMax } from "./reply.ts";
import { readResponsesUsage } from "./usage.ts";

/**
 * Watches response events. Payloads are parsed only at the start, at the end and for errors. An `error` event does not end the stream:
 * `response.failed` follows, which Codex reads.
 */
export class ResponsesStreamTap extends EventTap implements StreamTap {
  ended = false;
  id: string | null = null;
  served: Served | undefined;

  readonly #tools = new OutputTools();
  readonly items: string[] = [];
  #reported: UsageReading | null = null;
  #createdInOutput: readonly string[] = [];
  #rest: Uint8Array = emptyBytes;

  get createdIds(): readonly string[] {
    return this.#createdInOutput.length > 0 ? this.#createdInOutput : this.#tools.containerIds;
  }

  /** Before the terminal event it contains only tool use. */
  get usage(): UsageReading | null {
    if (this.ended || !this.#tools.any) return this.#reported;
    return readResponsesUsage(null, { toolUsage: null, counted: this.#tools.use });
  }

  get usageFinal(): boolean {
    return this.#reported !== null;
  }

  /** Accepts a terminal event without its blank line. */
  complete(): boolean {
    const { held } = this.sse;
    if (!this.ended && held.length > 0 && terminalTypes.has(typeOf(eventLines(held, 0, held.length)))) {
      this.inspect(held, 0, held.length);
      if (this.ended) this.#rest = Buffer.concat([held, blankLine]);
    }
    return this.ended;
  }

  override rest(): Uint8Array {
    return this.#rest;
  }

  /** Continues the stream's ids and numbers. */
  breakOff(failure: Failure): Uint8Array {
    const response = bareFailedResponse(failure, this.id ?? "resp_unknown");
    return encodeText(failureEvents(failure, response, this.events));
  }

  protected inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended) return;
    const { name, data: whole } = eventLines(bytes, start, end);
    if (whole.length === 0) return;
    const lines = { name, data: dataWithoutMedia(whole) };
    const type = typeOf(lines);
    if (type === "") {
      this.#inspectUntyped(lines.data);
      return;
    }
    if (type === "keepalive") return;
    this.events++;
    if (this.events === 1 && skim(lines.data, responseOnly) === null) throw invalidFirstEvent();
    if (deltaTypes.has(type)) this.#countContent(lines.data);
    else if (!this.contentSeen && !isPreamble(type, lines.data)) this.contentSeen = true;
    if (terminalTypes.has(type)) this.#readTerminal(type, lines.data);
    else if (type === "response.output_item.done") this.#readItem(lines.data);
    else if (type === "error") this.failure ??= responsesFailure(parseObject(lines.data) ?? {});
    else if (this.id === null && startTypes.has(type)) this.#readBeginning(lines.data);
  }

  #readBeginning(data: Uint8Array): void {
    const response = responseIn(data);
    this.id = textOf(readValue(data, response?.get("id")));
    // The tier is still the requested one.
    this.served = readServed({ model: readValue(data, response?.get("model")) }, null);
  }

  /** [DONE], which some proxies add, and errors in chat's shape. */
  #inspectUntyped(data: Uint8Array): void {
    const text = decodeText(data);
    if (text.trim() === "[DONE]") return;
    this.events++;
    const object = parseObject(text);
    if (object === null && this.events === 1) throw invalidFirstEvent();
    if (object !== null && object["error"] !== undefined && object["error"] !== null) {
      this.failure ??= responsesFailure(object);
    }
  }

  #countContent(data: Uint8Array): void {
    const length = deltaLength(data);
    if (length === 0) return;
    this.contentSeen = true;
    this.outputEstimate += pieceTokens(length);
  }

  /** Some streams end without repeating the output. */
  #readItem(data: Uint8Array): void {
    const item = skim(data, itemOnly)?.get("item");
    if (item === undefined) return;
    this.#tools.take(data, item);
    const id = itemId(data, item);
    if (id !== null && this.items.length < storedItemIdsMax) this.items.push(id);
  }

  /** A broken event does not end the stream. */
  #readTerminal(type: string, data: Uint8Array): void {
    const response = responseIn(data);
    if (response === null) return;
    const member = (name: string): unknown => readValue(data, response.get(name));
    const all = new OutputTools();
    const output = response.get("output");
    if (output !== undefined) {
      all.countAll(data, output);
      if (this.items.length === 0) this.items.push(...itemIds(data, output));
    }
    this.#createdInOutput = all.containerIds;
    this.ended = true;
    this.id ??= textOf(member("id"));
    const pictures = Math.max(this.#tools.pictures, all.pictures);
    const images = { pictures, model: pictures > 0 ? imageToolModel(data, response.get("tools")) : "" };
    const reported = member("usage");
    this.served = readServed(
      { model: member("model") ?? this.served?.model, service_tier: member("service_tier") },
      reported,
    );
    const counted = maxToolUse(this.#tools.use, all.use);
    this.#reported = readResponsesUsage(reported, { toolUsage: member("tool_usage"), counted, images });
    if (type === "response.failed") this.failure ??= responsesFailure(objectOf(member("error")));
  }
}

const terminalTypes: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);
const startTypes: ReadonlySet<string> = new Set(["response.created", "response.queued", "response.in_progress"]);
const deltaTypes: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
  "response.refusal.delta",
  "response.code_interpreter_call_code.delta",
  "response.mcp_call_arguments.delta",
  "response.shell_call_command.delta",
  "response.audio.transcript.delta",
]);
/** Events without content. */
const emptyTypes: ReadonlySet<string> = new Set([
  ...startTypes,
  ...terminalTypes,
  "error",
  "response.content_part.added",
  "response.reasoning_summary_part.added",
]);
const typeOnly: ReadonlySet<string> = new Set(["type"]);
const responseOnly: ReadonlySet<string> = new Set(["response"]);
const responseMembers: ReadonlySet<string> = new Set([
  ...["id", "model", "usage", "service_tier", "tool_usage", "error", "output", "tools"],
]);
const itemOnly: ReadonlySet<string> = new Set(["item"]);

const deltaMark = Buffer.from('"delta":', "latin1");
const blankLine = Buffer.from("\n\n", "latin1");
/** The event's name if it is of this dialect, else the payload's type. Empty if neither. */
function typeOf({ name, data }: EventLines): string {
  if (name.startsWith("response.") || name === "error" || name === "keepalive") return name;
  return textOf(readValue(data, skim(data, typeOnly)?.get("type"))) ?? "";
}

/** Items other than messages and reasoning are tool calls, which count as content. */
function isPreamble(type: string, data: Uint8Array): boolean {
  if (type !== "response.output_item.added") return emptyTypes.has(type);
  const item = objectOf(parseObject(data)?.["item"])["type"];
  return item === "message" || item === "reasoning";
}

/** In escaped bytes. */
function deltaLength(data: Uint8Array): number {
  const event = Buffer.from(data.buffer, data.byteOffset, data.length);
  const mark = event.indexOf(deltaMark);
  if (mark === -1) return 0;
  let from = mark + deltaMark.length;
  while (event[from] === 0x20) from++;
  if (event[from] !== QUOTE) return 0;
  const end = closingQuote(event, ++from);
  return end === event.length ? 0 : end - from;
}

function responseIn(data: Uint8Array): Map<string, Span> | null {
  const span = skim(data, responseOnly)?.get("response");
  return span === undefined ? null : skimObject(data, span.start, span.end, responseMembers);
}

function skim(data: Uint8Array, wanted: ReadonlySet<string>): Map<string, Span> | null {
  return skimObject(data, 0, data.length, wanted);
}

/** Null if it is not valid JSON. */
function readValue(data: Uint8Array, span: Span | undefined): unknown {
  try {
    return span === undefined ? null : readSpan(data, span);
  } catch {
    return null;
  }
}
