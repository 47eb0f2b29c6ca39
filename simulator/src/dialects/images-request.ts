import { bounds } from "../bounds.ts";
import { Refusal, type ReplyHead } from "../dialect.ts";
import { isObject, type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest, type ParsedRequest } from "../parsed-request.ts";
import type { SimulatorRequest, UploadPart } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { imagePath } from "../tiny-png.ts";
import { countWords } from "../words.ts";

export interface ImagesRequest {
  readonly parsed: ParsedRequest;
  readonly edits: boolean;
  readonly seedream: boolean;
  /** Old models: a revised prompt, but neither usage nor image properties. */
  readonly dalle: boolean;
  /** Images to generate, and images in the request (a mask is one). */
  readonly count: number;
  readonly inputImages: number;
  readonly partials: number;
  readonly urls: boolean;
  /** The scalar fields, as strings. */
  readonly fields: ReadonlyMap<string, string>;
  readonly host: string;
}

export function isImagesPath(path: string): boolean {
  return path.endsWith("/images/generations") || path.endsWith("/images/edits");
}

export function readImages(request: SimulatorRequest): ImagesRequest {
  const edits = request.path.endsWith("/images/edits");
  const { fields, inputImages } = request.upload === undefined ? readJson(request) : readUpload(request.upload);
  const modelParts = splitModel(fields.get("model") ?? "gpt-image-1");
  const promptParts = splitMarker(fields.get("prompt") ?? "");
  if (promptParts.text === "") throw missing("prompt");
  if (edits && inputImages === 0) throw missing("image");
  const seedream = modelParts.model.includes("seedream");
  const dalle = modelParts.model.startsWith("dall-e");
  const format = fields.get("response_format") ?? (dalle || seedream ? "url" : "b64_json");
  if (modelParts.model.includes("gpt-image") && fields.has("response_format")) {
    throw new Refusal(400, "Unknown parameter: 'response_format'.", {
      param: "response_format",
      code: "unknown_parameter",
    });
  }
  const max = seedream ? seriesMax(fields) : numberIn(fields, "n", 1);
  const stream = fields.get("stream") === "true";
  const promptTokens = countWords(promptParts.text) + inputImages * inputImageTokens;
  return {
    parsed: {
      ...bareRequest(modelParts.model, promptTokens),
      stream,
      prompt: promptParts.text,
      script: { ...modelParts.script, ...promptParts.script },
    },
    edits,
    seedream,
    dalle,
    count: Math.min(max, bounds.imagesMax),
    inputImages,
    partials: Math.min(numberIn(fields, "partial_images", 0), bounds.partialImagesMax),
    urls: format === "url",
    fields,
    host: request.headers["host"] ?? "simulator",
  };
}

/** Prompt tokens of each input image. */
export const inputImageTokens = 8;

/** The URL of the image at this index. */
export function imageUrl(request: ImagesRequest, head: ReplyHead, index: number): string {
  return `http://${request.host}${imagePath}sim${head.sequence}-${index}.png`;
}

function missing(param: string): Refusal {
  return new Refusal(400, `Missing required parameter: '${param}'.`, { param, code: "missing_required_parameter" });
}

interface ParsedFields {
  readonly fields: ReadonlyMap<string, string>;
  readonly inputImages: number;
}

function readUpload(upload: NonNullable<SimulatorRequest["upload"]>): ParsedFields {
  if (upload.broken !== null) throw new Refusal(400, `Could not parse multipart form: ${upload.broken}.`);
  const images = upload.parts.filter(isImage);
  for (const { name, size, content_type: type } of images) {
    if (size === 0) throw new Refusal(400, "The image file is empty.", { param: name, code: "empty_image_file" });
    if (type !== null && !/^image\/(?:png|jpeg|webp)$/.test(type)) {
      const message = `Invalid file '${name}': unsupported mimetype ('${type}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`;
      throw new Refusal(400, message, { param: name, code: "unsupported_file_mimetype" });
    }
  }
  const texts = upload.parts.flatMap(({ name, value }): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return { fields: new Map(texts), inputImages: images.length };
}

function isImage({ name, filename }: UploadPart): boolean {
  return filename !== null && /^(?:image(?:\[\d*\])?|mask)$/.test(name);
}

function readJson(request: SimulatorRequest): ParsedFields {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      fields.set(name, String(value));
  }
  const series = body["sequential_image_generation_options"];
  if (isObject(series)) fields.set("max_images", String(series["max_images"] ?? 1));
  return { fields, inputImages: imagesIn(body) };
}

/** `images` in OpenAI's JSON, `image` in Seedream's, and a mask. */
function imagesIn(body: JsonObject): number {
  const { image, images, mask } = body;
  const several = Array.isArray(images) ? images.length : Array.isArray(image) ? image.length : 0;
  const single = several === 0 && (isObject(image) || stringOf(image) !== "") ? 1 : 0;
  return several + single + (isObject(mask) ? 1 : 0);
}

/** Seedream has no `n`; a series has the maximum length. */
function seriesMax(fields: ReadonlyMap<string, string>): number {
  return fields.get("sequential_image_generation") === "auto" ? numberIn(fields, "max_images", 1) : 1;
}

function numberIn(fields: ReadonlyMap<string, string>, name: string, fallback: number): number {
  const value = Number(fields.get(name) ?? fallback);
  return Number.isInteger(value) && value >= 0 ? value : fallback;
}
