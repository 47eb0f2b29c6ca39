import { noUsage } from "#core/index.ts";
import type { ReplyFacts, UsageReading } from "../dialect.ts";
import { brokenReply, errorText } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json/value.ts";
import { readServed } from "../usage/read-served.ts";
import { rawUsage } from "../usage/reading.ts";

/** Pictures that are counted in one answer; vendors make 15 at most. */
const imagesPerReplyMax = 1_024;

const wanted: ReadonlySet<string> = new Set(["data", "model", "usage", "service_tier", "svg_usage", "error"]);
const wantedOfImage: ReadonlySet<string> = new Set(["error"]);

/** Reads a whole answer with pictures: how many there are, and what they used. The pictures are not looked at. */
export function readImagesReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, wanted);
  if (members === null) throw brokenReply("is not a JSON object");
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

/** Entries of `data` that are pictures: Ark puts the error of one that failed in its place. */
function countImages(body: Uint8Array, data: Span): number | null {
  const entries = skimArray(body, data, imagesPerReplyMax);
  if (entries === null) return null;
  return entries.filter((entry) => {
    const error = skimObject(body, entry.start, entry.end, wantedOfImage)?.get("error");
    return skimValue(body, error) === null;
  }).length;
}

/**
 * What was used for `images` pictures, as far as `reported` says. OpenAI counts tokens of text and of pictures; Ark
 * counts pictures and their tokens; others report nothing, which leaves the pictures. Model prices per picture and
 * per token both work on this, because a class without a price costs nothing.
 * `svg` is OpenAI's `svg_usage`: the tokens of the model that wrote an SVG, which the other object leaves out.
 */
export function imagesUsage(reported: unknown, svg: unknown, images: number): UsageReading {
  if (!isObject(reported)) return { usage: { ...noUsage, images }, raw: "{}" };
  const author = objectOf(svg);
  const input = inputOf(reported);
  const output = outputOf(reported);
  const authored = countOf(author["output_tokens"]) ?? 0;
  return {
    usage: {
      ...noUsage,
      inputUncached: input.text + (countOf(author["input_tokens"]) ?? 0),
      imageInput: input.image,
      output: output.text + authored,
      reasoning: Math.min(countOf(author["reasoning_tokens"]) ?? 0, authored),
      imageOutput: output.image,
      images,
    },
    raw: rawUsage(isObject(svg) ? { ...reported, svg_usage: svg } : reported),
  };
}

interface Split {
  readonly text: number;
  readonly image: number;
}

/** What is not said to be of a picture is text. */
function inputOf(reported: JsonObject): Split {
  const details = objectOf(reported["input_tokens_details"]);
  const image = countOf(details["image_tokens"]) ?? 0;
  const total = countOf(reported["input_tokens"]) ?? image + (countOf(details["text_tokens"]) ?? 0);
  const ofImages = Math.min(image, total);
  return { text: total - ofImages, image: ofImages };
}

/** What is not said to be text is of a picture. */
function outputOf(reported: JsonObject): Split {
  const details = objectOf(reported["output_tokens_details"]);
  const text = countOf(details["text_tokens"]) ?? 0;
  const total = countOf(reported["output_tokens"]) ?? text + (countOf(details["image_tokens"]) ?? 0);
  const ofText = Math.min(text, total);
  return { text: ofText, image: total - ofText };
}
