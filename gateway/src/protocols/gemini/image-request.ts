import type { ImageSize, ImageTurn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json-value.ts";

/** A call for a picture as the body of a generateContent request. Pictures to be changed stand before the words. */
export function geminiImageRequest(turn: ImageTurn, warn: Warn): JsonObject {
  if (turn.count > 1) throw unsupported("n", "The upstream makes one picture at a time.");
  if (turn.mask !== null) {
    throw unsupported("mask", "The upstream takes no mask: say in the prompt what is to be changed.");
  }
  warnOfRest(turn, warn);
  const images = turn.images.map((image) => ({ inlineData: { mimeType: image.mediaType, data: image.data } }));
  return {
    contents: [{ role: "user", parts: [...images, { text: turn.prompt }] }],
    generationConfig: {
      responseModalities: ["TEXT", "IMAGE"],
      ...(turn.size === null ? {} : { imageConfig: imageConfigOf(turn.size, warn) }),
    },
  };
}

function warnOfRest(turn: ImageTurn, warn: Warn): void {
  if (turn.quality !== null && turn.quality !== "auto") {
    warn("quality is not understood by the upstream and was left out");
  }
  if (turn.background === "transparent") warn("the upstream makes no transparent backgrounds");
  if (turn.outputFormat !== null && turn.outputFormat !== "png") {
    warn("output_format is not understood by the upstream; the picture comes in the format of its choice");
  }
}

/** Source: Gemini API docs, "Image generation", aspect ratios; @google/genai, ImageConfig. */
const ratios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"] as const;

/** The classes have about 1, 4 and 16 million pixels; the first is what is made unasked, and all that older models know. */
const pixelsOf2k = 2_100_000;
const pixelsOf4k = 8_400_000;

function imageConfigOf(size: ImageSize, warn: Warn): JsonObject {
  const aspectRatio = nearestRatio(size);
  const pixels = size.width * size.height;
  if (size.width !== 1024 || size.height !== 1024) {
    warn("size is kept as the nearest aspect ratio and class of resolution, not to the pixel");
  }
  if (pixels < pixelsOf2k) return { aspectRatio };
  return { aspectRatio, imageSize: pixels < pixelsOf4k ? "2K" : "4K" };
}

/** Ratios are compared as factors: twice as wide is as far away as half as wide. */
function nearestRatio(size: ImageSize): string {
  const wanted = Math.log(size.width / size.height);
  let nearest: string = ratios[0];
  let distance = Number.POSITIVE_INFINITY;
  for (const ratio of ratios) {
    const [width = 1, height = 1] = ratio.split(":").map(Number);
    const away = Math.abs(Math.log(width / height) - wanted);
    if (away >= distance) continue;
    nearest = ratio;
    distance = away;
  }
  return nearest;
}
