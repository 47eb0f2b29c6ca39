import { noUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json/value.ts";
import { rawUsage } from "../usage/reading.ts";

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
