import { Failure, type ImageAnswer, type ImageMedia, type ImageSize, type ImageTurn, type Usage } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { unsupportedReply } from "../errors/upstream-errors.ts";
import { arrayOf, type JsonObject, jsonBytes, objectOf, textOf, unsupported } from "../json/value.ts";
import { notSupported } from "../turn/warnings.ts";
import { geminiFailure } from "./error.ts";
import { blockReasonOf, isFinishReason, parseResponse, readFinish } from "./read-events.ts";
import { readGeminiUsage } from "./usage.ts";

/** Pictures by generateContent. */
export const geminiImageCodec = { writeImageTurn, readImageAnswer };

/** Throws Failure unsupported_by_model if dropping something would change the picture. */
function writeImageTurn(turn: ImageTurn, warn: Warn): Uint8Array {
  if (turn.count > 1) throw unsupported("n", "The upstream makes one picture at a time.");
  if (turn.mask !== null) {
    throw unsupported("mask", "The upstream does not accept a mask: describe the change in the prompt.");
  }
  warnOfRest(turn, warn);
  const images = turn.images.map((image) => ({ inlineData: { mimeType: image.mediaType, data: image.data } }));
  const request = {
    contents: [{ role: "user", parts: [...images, { text: turn.prompt }] }],
    generationConfig: {
      responseModalities: ["TEXT", "IMAGE"],
      ...(turn.size === null ? {} : { imageConfig: imageConfigOf(turn.size, warn) }),
    },
  };
  return jsonBytes(request);
}

function warnOfRest(turn: ImageTurn, warn: Warn): void {
  if (turn.quality !== null && turn.quality !== "auto") {
    warn(notSupported("quality"));
  }
  if (turn.background === "transparent") warn("transparent backgrounds are not supported by the upstream");
  if (turn.outputFormat !== null && turn.outputFormat !== "png") {
    warn("output_format is not supported by the upstream, which chooses the format");
  }
}

/** Source: Gemini API docs, "Image generation"; @google/genai, ImageConfig. */
const ratios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"] as const;

/** 1K, 2K and 4K have about 1, 4 and 16 million pixels. Older models know only 1K, the default. */
const pixelsOf2k = 2_100_000;
const pixelsOf4k = 8_400_000;

function imageConfigOf(size: ImageSize, warn: Warn): JsonObject {
  const aspectRatio = nearestRatio(size);
  const pixels = size.width * size.height;
  if (size.width !== 1024 || size.height !== 1024) {
    warn("size was changed to the nearest aspect ratio and resolution");
  }
  if (pixels < pixelsOf2k) return { aspectRatio };
  return { aspectRatio, imageSize: pixels < pixelsOf4k ? "2K" : "4K" };
}

/** Compared as factors: 2:1 and 1:2 are equally far from 1:1. */
function nearestRatio({ width, height }: ImageSize): string {
  const distance = (ratio: string): number => {
    const [wide = 1, high = 1] = ratio.split(":").map(Number);
    return Math.abs(Math.log(wide / high) - Math.log(width / height));
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

/** Throws Failure invalid_request if safety rules blocked the picture, else upstream_error without one. */
function readImageAnswer(body: Uint8Array): ImageAnswer {
  const response = parseResponse(body);
  const error = response["error"];
  if (error !== undefined && error !== null) throw geminiFailure(error);
  const images = arrayOf(response["candidates"]).flatMap((candidate) => imagesOf(objectOf(candidate)));
  if (images.length === 0) throw noPicture(response);
  return { images, usage: usageOf(response, images.length), revisedPrompt: null };
}

/** Pictures in thoughts are drafts. */
function imagesOf(candidate: JsonObject): ImageMedia[] {
  return arrayOf(objectOf(candidate["content"])["parts"]).flatMap((value): ImageMedia[] => {
    const part = objectOf(value);
    const inline = objectOf(part["inlineData"]);
    const data = textOf(inline["data"]);
    const mediaType = textOf(inline["mimeType"]) ?? "image/png";
    return data === null || part["thought"] === true || !mediaType.startsWith("image/") ? [] : [{ mediaType, data }];
  });
}

/** Without details nearly all tokens are the picture's. */
function usageOf(response: JsonObject, images: number): Usage | null {
  const reported = objectOf(response["usageMetadata"]);
  const usage = readGeminiUsage(reported)?.usage;
  if (usage === undefined) return null;
  if (reported["candidatesTokensDetails"] !== undefined) return { ...usage, images };
  const answer = usage.output - usage.reasoning;
  return { ...usage, output: usage.reasoning, imageOutput: usage.imageOutput + answer, images };
}

function noPicture(response: JsonObject): Failure {
  const candidate = objectOf(arrayOf(response["candidates"])[0]);
  const { finishReason, finishMessage } = candidate;
  const block = blockReasonOf(response["promptFeedback"]);
  const reason = block ?? (isFinishReason(finishReason) ? finishReason : "no reason given");
  if (block !== null || readFinish(reason, false).reason === "content-filter") {
    const why = `The upstream's safety rules forbade this picture (${reason}).`;
    return new Failure("invalid_request", why, { param: "prompt" });
  }
  return unsupportedReply(`The upstream answered without a picture: ${textOf(finishMessage) ?? reason}.`);
}
