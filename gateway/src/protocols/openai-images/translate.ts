import {
  type ImageAnswer,
  type ImageMedia,
  type ImageSize,
  type ImageTurn,
  noUsage,
  type RequestedImages,
  type Usage,
} from "#core/index.ts";
import type { FormContent, FormFile } from "#ports/index.ts";
import type { Warn } from "../codec.ts";
import { encodeText } from "../json/bytes.ts";
import {
  countOf,
  invalid,
  isObject,
  type JsonObject,
  jsonBytes,
  missingParam,
  parseBody,
  parseObject,
  textOf,
  unsupported,
} from "../json/value.ts";
import { dataUri, readDataUri } from "../turn/data-uri.ts";
import { isAbsent, notSupported, warnOfUnsentMembers } from "../turn/warnings.ts";

export function readImageTurn(body: Uint8Array | FormContent, warn: Warn): ImageTurn {
  const fields = fieldsOf(body);
  const prompt = textOf(fields["prompt"]);
  if (prompt === null || prompt === "") throw missingParam("prompt");
  warnOfUnsentMembers(fields, turnMembers, "", warn, isAbsent);
  if (fields["response_format"] === "url") warn("pictures are returned in the answer, not as URLs");
  const mask = fields["mask"] ?? null;
  return {
    prompt,
    count: readCount(fields["n"] ?? null),
    size: readSize(fields["size"] ?? null, warn),
    quality: textOf(fields["quality"]),
    background: textOf(fields["background"]),
    outputFormat: textOf(fields["output_format"]),
    images: imageUrlsOf(fields).map((url) => mediaOf("image", url)),
    mask: mask === null ? null : mediaOf("mask", imageUrlOf("mask", mask)),
    stream: fields["stream"] === true,
  };
}

/** Read above, or without effect on the picture. */
const turnMembers: ReadonlySet<string> = new Set([
  ...["model", "prompt", "n", "size", "quality", "background", "output_format", "image", "images", "mask", "stream"],
  ...["partial_images", "response_format", "user", "safety_identifier", "moderation"],
]);

function readCount(value: unknown): number {
  if (value === null) return 1;
  const count = countOf(value);
  if (count === null || count === 0) throw invalid("n", "must be an integer above 0");
  return count;
}

/** Other vendors' names of sizes. */
function readSize(value: unknown, warn: Warn): ImageSize | null {
  const text = textOf(value);
  if (text === null || text === "" || text === "auto") return null;
  const [, width, height] = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(text) ?? [];
  if (width !== undefined && height !== undefined) return { width: Number(width), height: Number(height) };
  warn(notSupported("size"));
  return null;
}

function mediaOf(param: string, url: string): ImageMedia {
  const read = readDataUri(url);
  if (read === null) throw unsupported(param, "This upstream accepts pictures only as data URIs.");
  if (!read.mediaType.startsWith("image/")) throw invalid(param, "is not a picture");
  return { mediaType: read.mediaType === "image/jpg" ? "image/jpeg" : read.mediaType, data: read.data };
}

/**
 * For vendors that take pictures to edit as URLs in `image` (Seedream). Their own fields pass unchanged. Source: Ark, "Image generation
 * API".
 */
export function writeImageJson(body: Uint8Array | FormContent, upstreamModel: string, warn: Warn): Uint8Array {
  const fields = fieldsOf(body);
  if ((fields["mask"] ?? null) !== null) {
    throw unsupported("mask", "The upstream does not accept a mask: describe the change in the prompt.");
  }
  const count = countOf(fields["n"]) ?? 1;
  if (count > 1 && fields["sequential_image_generation"] !== "auto") {
    throw unsupported("n", "The upstream makes one picture at a time.");
  }
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || replaced.has(name) || harmless.has(name)) continue;
    if (!isOpenaiOnly(name, value)) out[name] = value;
    else if (value !== "auto") warn(notSupported(name));
  }
  out["model"] = upstreamModel;
  const images = imageUrlsOf(fields);
  if (images.length > 0) out["image"] = images.length === 1 ? images[0] : images;
  return jsonBytes(out);
}

const replaced: ReadonlySet<string> = new Set(["model", "images", "image", "mask", "n"]);
/** Without effect on the picture. */
const harmless: ReadonlySet<string> = new Set(["user", "safety_identifier", "moderation", "partial_images"]);
const openaiOnly: ReadonlySet<string> = new Set([
  ...["quality", "background", "style", "input_fidelity", "output_compression", "complexity", "markup"],
  ...["frame_count", "frame_duration_ms"],
]);

function isOpenaiOnly(name: string, value: unknown): boolean {
  if (name === "size") return value === "auto";
  if (name === "output_format") return value !== "png" && value !== "jpeg";
  return openaiOnly.has(name);
}

/** A JSON body, or a form as the same JSON. Unknown fields stay text. */
function fieldsOf(content: Uint8Array | FormContent): JsonObject {
  if (content instanceof Uint8Array) return parseBody(content);
  const { fields, files } = content;
  const body: Record<string, unknown> = {};
  for (const { name, value } of fields) body[name] = typedValue(name, value);
  const images = files.filter(isImage).map(uriOf);
  if (images.length > 0) body["image"] = images.length === 1 ? images[0] : images;
  for (const file of files) if (!isImage(file)) body[file.name] = uriOf(file);
  return body;
}

const numbers: ReadonlySet<string> = new Set(["n", "seed", "guidance_scale", "output_compression", "partial_images"]);
const switches: ReadonlySet<string> = new Set(["stream", "watermark", "optimize_prompt"]);
const objects: ReadonlySet<string> = new Set(["sequential_image_generation_options", "optimize_prompt_options"]);

function typedValue(name: string, value: string): unknown {
  if (numbers.has(name)) return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
  if (switches.has(name)) return switchOf(value.toLowerCase()) ?? value;
  return objects.has(name) ? (parseObject(value) ?? value) : value;
}

function switchOf(word: string): boolean | null {
  if (word === "true" || word === "1") return true;
  return word === "false" || word === "0" ? false : null;
}

/** Several pictures may also be `image[]` or `image[0]`. */
function isImage({ name }: FormFile): boolean {
  return /^image(?:\[\d*\])?$/.test(name);
}

function uriOf({ name, mediaType, data }: FormFile): string {
  if (mediaType === null) throw invalid(name, "is not a picture of a supported type");
  return dataUri(mediaType, data);
}

/** OpenAI's edits use `images`, other vendors `image`. */
function imageUrlsOf(fields: JsonObject): string[] {
  const sources = fields["images"] ?? fields["image"] ?? [];
  return (Array.isArray(sources) ? sources : [sources]).map((source: unknown) => imageUrlOf("image", source));
}

/** `{"image_url": "…"}`, `{"image_url": {"url": "…"}}` or the URL alone. */
function imageUrlOf(param: string, source: unknown): string {
  if (isObject(source) && textOf(source["file_id"]) !== null) {
    throw unsupported(param, "A file uploaded to another vendor cannot be read by this upstream.");
  }
  const inner = isObject(source) ? source["image_url"] : source;
  const url = textOf(isObject(inner) ? inner["url"] : inner);
  if (url === null) throw invalid(param, "must be a picture's URL");
  return url;
}

/** `createdAt` is Unix seconds. */
export function writeImageAnswer(answer: ImageAnswer, createdAt: number): Uint8Array {
  const format = formatOf(answer.images[0]);
  return jsonBytes({
    created: createdAt,
    data: answer.images.map(({ data }) => ({
      b64_json: data,
      ...(answer.revisedPrompt === null ? {} : { revised_prompt: answer.revisedPrompt }),
    })),
    ...(format === null ? {} : { output_format: format }),
    ...(answer.usage === null ? {} : { usage: usageOf(answer.usage) }),
  });
}

/** One event for each picture; the last has the usage. */
export function writeImageEvents(
  answer: ImageAnswer,
  createdAt: number,
  kind: "image_generation" | "image_edit",
  requested: RequestedImages,
): Uint8Array {
  const type = `${kind}.completed`;
  const last = answer.images.length - 1;
  const events = answer.images.map((image, index) => {
    const event = {
      type,
      b64_json: image.data,
      created_at: createdAt,
      size: requested.size === null ? "auto" : `${requested.size.width}x${requested.size.height}`,
      quality: requested.quality ?? "auto",
      background: requested.background ?? "auto",
      output_format: formatOf(image) ?? "png",
      usage: usageOf((index === last ? answer.usage : null) ?? noUsage),
    };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  return encodeText(events.join(""));
}

/** Null if OpenAI has no name for it. */
function formatOf(image: ImageMedia | undefined): string | null {
  const format = image?.mediaType.replace(/^image\//, "") ?? "";
  return ["png", "jpeg", "webp"].includes(format) ? format : null;
}

/** OpenAI's totals include the details. */
function usageOf(usage: Usage) {
  const { imageInput, imageOutput } = usage;
  const text = usage.inputUncached + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h + usage.audioInput;
  const output = usage.output + usage.audioOutput;
  return {
    input_tokens: text + imageInput,
    input_tokens_details: { text_tokens: text, image_tokens: imageInput },
    output_tokens: output + imageOutput,
    output_tokens_details: { text_tokens: output, image_tokens: imageOutput },
    total_tokens: text + imageInput + output + imageOutput,
  };
}
