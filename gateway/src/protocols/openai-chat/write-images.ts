import type { MediaSource } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { dataUri } from "../data-uri.ts";
import type { JsonObject } from "../json-value.ts";

/**
 * A picture that the model made, as OpenRouter and the vendors of this dialect attach it: OpenAI's own types have no place for one.
 * null where only its vendor could read it.
 */
export function writeImage(source: MediaSource, index: number, warn: Warn): JsonObject | null {
  if (source.kind === "base64") return imageAt(dataUri(source.mediaType, source.data), index);
  if (source.kind === "url") return imageAt(source.url, index);
  warn("a picture that only the upstream can read was left out");
  return null;
}

function imageAt(url: string, index: number): JsonObject {
  return { type: "image_url", image_url: { url }, index };
}
