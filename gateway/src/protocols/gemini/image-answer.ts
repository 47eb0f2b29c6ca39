import { Failure, type ImageAnswer, type ImageMedia, type Usage } from "#core/index.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../json-value.ts";
import { upstreamErrorOf } from "./error.ts";
import { blockReasonOf, isFinishReason, readFinish } from "./finish.ts";
import { parseResponse } from "./read-events.ts";
import { readGeminiUsage } from "./usage.ts";

/**
 * The pictures in a generateContent answer. Throws Failure invalid_request when the vendor's rules forbade them, and
 * upstream_error when there are none for another reason.
 */
export function readGeminiImages(body: Uint8Array): ImageAnswer {
  const response = parseResponse(decoder.decode(body));
  const error = response["error"];
  if (error !== undefined && error !== null) throw upstreamErrorOf(error);
  const images = arrayOf(response["candidates"]).flatMap((candidate) => imagesOf(objectOf(candidate)));
  if (images.length === 0) throw noPicture(response);
  return { images, usage: usageOf(response, images.length), revisedPrompt: null };
}

/** Pictures among the thoughts are drafts of the one that follows. */
function imagesOf(candidate: JsonObject): ImageMedia[] {
  return arrayOf(objectOf(candidate["content"])["parts"]).flatMap((value): ImageMedia[] => {
    const part = objectOf(value);
    const inline = objectOf(part["inlineData"]);
    const data = textOf(inline["data"]);
    const mediaType = textOf(inline["mimeType"]) ?? "image/png";
    return data === null || part["thought"] === true || !mediaType.startsWith("image/") ? [] : [{ mediaType, data }];
  });
}

/** Where the answer's tokens are not told apart, those of the picture are all but a few of them. */
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
    return new Failure("invalid_request", `The upstream's safety rules forbade this picture (${reason}).`, {
      param: "prompt",
    });
  }
  const more = textOf(finishMessage);
  return new Failure("upstream_error", `The upstream answered without a picture: ${more ?? reason}.`, {
    retry: "other",
  });
}

const decoder = new TextDecoder();
