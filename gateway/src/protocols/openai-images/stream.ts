import type { Served } from "#core/index.ts";
import type { StreamTap } from "../dialect.ts";
import { QUOTE, type Span } from "../json/cursor.ts";
import { skimValue } from "../json/skim.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json/value.ts";
import { eventLines, isDone } from "../stream/sse-events.ts";
import { type TypedEvent, TypedEventStream } from "../stream/typed-events.ts";
import { readServed } from "../usage/read-served.ts";
import { imagesUsage } from "./reply.ts";

/** OpenAI charges this many image tokens for each unfinished picture it sends. */
const partialImageTokens = 100;

/**
 * Listens to the events of pictures being made. OpenAI sends unfinished pictures (`….partial_image`) and each finished
 * one with its usage (`….completed`). Ark sends finished pictures (`….partial_succeeded`), failed ones
 * (`….partial_failed`) and at the end an event without a picture (`….completed`) with the usage of all. No picture
 * is decoded.
 */
export class ImagesStreamTap extends TypedEventStream implements StreamTap {
  usageFinal = false;
  served: Served | undefined;
  #completed = false;
  #images = 0;
  #reported: JsonObject | null = null;

  constructor() {
    super(["usage", "b64_json", "url"]);
  }

  /** A finished picture, or Ark's last word, or [DONE]: OpenAI's streams just end. */
  complete(): boolean {
    const { held } = this.sse;
    if (held.length > 0 && held.length < heldDoneMax && isDone(eventLines(held, 0, held.length).data))
      this.ended = true;
    return this.ended || this.#completed;
  }

  /** One picture of several that failed. */
  protected override isPartial(type: string): boolean {
    return stepOf(type) === "partial_failed";
  }

  protected override take({ type, data, members }: TypedEvent): void {
    const step = stepOf(type);
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
    this.served = readServed({}, this.#reported);
  }
}

/** Longer than a last event without its blank line can be when it is only [DONE]. */
const heldDoneMax = 64;

function isText(data: Uint8Array, span: Span | undefined): boolean {
  return span !== undefined && data[span.start] === QUOTE;
}

function stepOf(type: string): string {
  return type.slice(type.lastIndexOf(".") + 1);
}
