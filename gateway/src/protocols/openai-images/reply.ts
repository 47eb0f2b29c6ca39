import { noUsage, type Served } from "#core/index.ts";
import type { ReplyFacts, StreamTap, UsageReading } from "../dialect.ts";
import { errorText, invalidReply } from "../errors/upstream-errors.ts";
import { QUOTE, type Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json/value.ts";
import { eventLines, isDone } from "../stream/sse-events.ts";
import { type TypedEvent, TypedEventStream } from "../stream/typed-events.ts";
import { readServed } from "../usage/read-served.ts";
import { rawUsage } from "../usage/reading.ts";

/** Vendors make at most 15. */
const imagesPerReplyMax = 1_024;

const replyMembers: ReadonlySet<string> = new Set(["data", "model", "usage", "service_tier", "svg_usage", "error"]);
const imageMembers: ReadonlySet<string> = new Set(["error"]);

/** Counts the pictures without decoding them. */
export function readImagesReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, replyMembers);
  if (members === null) throw invalidReply("is not a JSON object");
  const data = members.get("data");
  const usage = skimValue(body, members.get("usage"));
  const error = skimValue(body, members.get("error"));
  const images = data === undefined ? null : countImages(body, data);
  return {
    usage:
      images === null && usage === null
        ? null
        : imagesUsage(usage, skimValue(body, members.get("svg_usage")), images ?? 0),
    served: readServed(
      {
        model: skimValue(body, members.get("model")),
        service_tier: skimValue(body, members.get("service_tier")),
      },
      usage,
    ),
    errorMessage: error !== null && images === null ? errorText(error) : null,
    outputEstimate: 0,
    id: null,
  };
}

/** Ark puts an error in place of a failed picture. */
function countImages(body: Uint8Array, data: Span): number | null {
  const entries = skimArray(body, data, imagesPerReplyMax);
  if (entries === null) return null;
  return entries.filter((entry) => {
    const error = skimObject(body, entry.start, entry.end, imageMembers)?.get("error");
    return skimValue(body, error) === null;
  }).length;
}

/**
 * OpenAI reports text and picture tokens, Ark pictures and their tokens, others nothing. Prices per picture and per token both apply,
 * because a class without a price costs nothing. `svg`: OpenAI's `svg_usage`, the tokens of the model that wrote an SVG.
 */
export function imagesUsage(reported: unknown, svg: unknown, images: number): UsageReading {
  if (!isObject(reported)) return { usage: { ...noUsage, images }, raw: "{}" };
  const author = objectOf(svg);
  const { input_tokens, input_tokens_details, output_tokens, output_tokens_details } = reported;
  const [imageInput, textInput] = split(input_tokens, input_tokens_details, "image_tokens", "text_tokens");
  const [textOutput, imageOutput] = split(output_tokens, output_tokens_details, "text_tokens", "image_tokens");
  const authored = countOf(author["output_tokens"]) ?? 0;
  return {
    usage: {
      ...noUsage,
      inputUncached: textInput + (countOf(author["input_tokens"]) ?? 0),
      imageInput,
      output: textOutput + authored,
      reasoning: Math.min(countOf(author["reasoning_tokens"]) ?? 0, authored),
      imageOutput,
      images,
    },
    raw: rawUsage(isObject(svg) ? { ...reported, svg_usage: svg } : reported),
  };
}

/** Splits a total; the rest is of the other kind. */
function split(total: unknown, details: unknown, one: string, other: string) {
  const reported = objectOf(details);
  const ofOne = countOf(reported[one]) ?? 0;
  const all = countOf(total) ?? ofOne + (countOf(reported[other]) ?? 0);
  return [Math.min(ofOne, all), Math.max(0, all - ofOne)] as const;
}

/** OpenAI charges this for each partial picture. */
const partialImageTokens = 100;

/**
 * Watches picture events. OpenAI sends `….partial_image` and, with usage, `….completed`. Ark sends `….partial_succeeded`,
 * `….partial_failed` and at the end `….completed` with the usage of all. Pictures are not decoded.
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

  /** OpenAI's streams end after the last picture, others with [DONE]. */
  complete(): boolean {
    const { held } = this.sse;
    if (held.length > 0 && held.length < heldDoneMax && isDone(eventLines(held, 0, held.length).data))
      this.ended = true;
    return this.ended || this.#completed;
  }

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

  /** Reports are cumulative. */
  #count(more: number, reported: unknown): void {
    this.#images += more;
    if (isObject(reported)) this.#reported = reported;
    this.usage = imagesUsage(this.#reported, null, this.#images);
    this.served = readServed({}, this.#reported);
  }
}

const heldDoneMax = 64;

function isText(data: Uint8Array, span: Span | undefined): boolean {
  return span !== undefined && data[span.start] === QUOTE;
}

function stepOf(type: string): string {
  return type.slice(type.lastIndexOf(".") + 1);
}
