import { bounds, type Failure } from "#core/index.ts";
import type { StreamTap, UsageReading } from "../dialect.ts";
import { eventLines, isDone } from "../event-lines.ts";
import type { Span } from "../json-scan.ts";
import { skimObject, skimValue } from "../json-skim.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json-value.ts";
import { errorText } from "../openai-chat/reply.ts";
import { SseEvents } from "../sse-events.ts";
import { errorReported, firstEventBroken } from "../upstream-broke.ts";
import { imagesUsage } from "./usage.ts";

const wanted: ReadonlySet<string> = new Set(["type", "usage", "error", "b64_json", "url"]);
const noBytes = new Uint8Array(0);
const noMembers: ReadonlyMap<string, Span> = new Map();

/** OpenAI charges this many image tokens for each unfinished picture it sends. */
const partialImageTokens = 100;

/**
 * Listens to the events of pictures being made. OpenAI sends unfinished pictures (`….partial_image`) and each finished
 * one with its usage (`….completed`). Ark sends finished pictures (`….partial_succeeded`), failed ones
 * (`….partial_failed`) and at the end an event without a picture (`….completed`) with the usage of all. No picture
 * is decoded.
 */
export class ImagesStreamTap implements StreamTap {
  events = 0;
  ended = false;
  contentSeen = false;
  usage: UsageReading | null = null;
  usageFinal = false;
  failure: Failure | null = null;
  outputEstimate = 0;
  /** Pictures are not kept under an id. */
  readonly id = null;

  readonly #sse = new SseEvents(bounds.imageEventBytesMax);
  #completed = false;
  #images = 0;
  #reported: JsonObject | null = null;
  readonly #visit = (bytes: Uint8Array, start: number, end: number): void => this.#inspect(bytes, start, end);

  push(chunk: Uint8Array): Uint8Array {
    return this.#sse.push(chunk, this.#visit);
  }

  /** A finished picture, or Ark's last word, or [DONE]: OpenAI's streams just end. */
  complete(): boolean {
    const held = this.#sse.held;
    if (held.length > 0 && held.length < heldDoneMax && isDone(eventLines(held, 0, held.length).data))
      this.ended = true;
    return this.ended || this.#completed;
  }

  rest(): Uint8Array {
    return noBytes;
  }

  #inspect(bytes: Uint8Array, start: number, end: number): void {
    if (this.ended) return;
    const { name, data } = eventLines(bytes, start, end);
    if (data.length === 0) return;
    this.events++;
    if (isDone(data)) {
      this.ended = true;
      return;
    }
    const members = skimObject(data, 0, data.length, wanted);
    if (members === null && this.events === 1) throw firstEventBroken();
    this.#take(typeOf(data, members, name), data, members ?? noMembers);
  }

  #take(type: string, data: Uint8Array, members: ReadonlyMap<string, Span>): void {
    const step = type.slice(type.lastIndexOf(".") + 1);
    if (step === "partial_failed") return;
    const error = skimValue(data, members.get("error"));
    if (step === "error" || error !== null) {
      this.failure = errorReported(errorText(error));
      return;
    }
    if (step === "partial_image") {
      this.contentSeen = true;
      this.outputEstimate += partialImageTokens;
    } else if (step === "partial_succeeded") {
      this.contentSeen = true;
      this.#count(1, null);
    } else if (step === "completed") {
      this.#complete(
        skimValue(data, members.get("usage")),
        isText(data, members.get("b64_json")) || isText(data, members.get("url")),
      );
    }
  }

  #complete(reported: unknown, withImage: boolean): void {
    this.#completed = true;
    this.usageFinal = true;
    if (withImage) this.contentSeen = true;
    const counted = withImage ? this.#images + 1 : (countOf(objectOf(reported)["generated_images"]) ?? this.#images);
    this.#count(counted - this.#images, reported);
  }

  /** Of several reports the last one counts: vendors say what the call has used, not what one event has. */
  #count(more: number, reported: unknown): void {
    this.#images += more;
    if (isObject(reported)) this.#reported = reported;
    this.usage = imagesUsage(this.#reported, null, this.#images);
  }
}

/** Longer than a last event without its blank line can be when it is only [DONE]. */
const heldDoneMax = 64;

function isText(data: Uint8Array, span: Span | undefined): boolean {
  return span !== undefined && data[span.start] === 0x22;
}

/** The event's own type; some vendors say it only in the event's name. */
function typeOf(data: Uint8Array, members: ReadonlyMap<string, Span> | null, name: string): string {
  const type = members === null ? null : skimValue(data, members.get("type"));
  return typeof type === "string" ? type : name;
}
