import { isObject, type JsonObject, textOf, unsupported, wrong } from "../json-value.ts";

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
