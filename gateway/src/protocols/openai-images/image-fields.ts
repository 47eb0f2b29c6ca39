import type { FormContent, FormFile } from "#ports/index.ts";
import { isObject, type JsonObject, parseObject, textOf, unsupported, wrong } from "../json/value.ts";
import { dataUri } from "../turn/data-uri.ts";

/**
 * A form's fields as the JSON body that says the same: numbers and switches as such, the pictures as data URIs in
 * `image`, one or several. What is not known by name stays text.
 */
export function formFields({ fields, files }: FormContent): JsonObject {
  const body: Record<string, unknown> = {};
  for (const { name, value } of fields) body[name] = typed(name, value);
  const images = files.filter(isImage).map(uriOf);
  if (images.length > 0) body["image"] = images.length === 1 ? images[0] : images;
  for (const file of files) if (!isImage(file)) body[file.name] = uriOf(file);
  return body;
}

const numbers: ReadonlySet<string> = new Set(["n", "seed", "guidance_scale", "output_compression", "partial_images"]);
const switches: ReadonlySet<string> = new Set(["stream", "watermark", "optimize_prompt"]);
const objects: ReadonlySet<string> = new Set(["sequential_image_generation_options", "optimize_prompt_options"]);

function typed(name: string, value: string): unknown {
  if (numbers.has(name)) return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
  if (switches.has(name)) return switchOf(value.toLowerCase()) ?? value;
  return objects.has(name) ? (parseObject(value) ?? value) : value;
}

function switchOf(word: string): boolean | null {
  if (word === "true" || word === "1") return true;
  return word === "false" || word === "0" ? false : null;
}

/** `image` may stand several times, and several are also called `image[]` or `image[0]`. */
function isImage({ name }: FormFile): boolean {
  return /^image(?:\[\d*\])?$/.test(name);
}

function uriOf({ name, mediaType, data }: FormFile): string {
  if (mediaType === null) throw wrong(name, "is of no type of picture that is known here");
  return dataUri(mediaType, data);
}

/** The pictures of a body: OpenAI's edits have `images`; other vendors take `image`, one or several. */
export function imageUrlsOf(fields: JsonObject): string[] {
  const sources = fields["images"] ?? fields["image"] ?? [];
  return (Array.isArray(sources) ? sources : [sources]).map((source: unknown) => imageUrlOf("image", source));
}

/** `{"image_url": "…"}`, `{"image_url": {"url": "…"}}` or the URL alone. */
export function imageUrlOf(param: string, source: unknown): string {
  if (isObject(source) && textOf(source["file_id"]) !== null) {
    throw unsupported(param, "A file that was uploaded to another vendor cannot be read by this upstream.");
  }
  const inner = isObject(source) ? source["image_url"] : source;
  const url = textOf(isObject(inner) ? inner["url"] : inner);
  if (url === null) throw wrong(param, "must be a picture's URL");
  return url;
}
