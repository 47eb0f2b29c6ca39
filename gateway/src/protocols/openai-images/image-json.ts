import type { FormContent } from "#ports/index.ts";
import type { Warn } from "../codec.ts";
import { countOf, parseBody, unsupported } from "../json/value.ts";
import { formFields, imageUrlsOf } from "./image-fields.ts";

/**
 * A form, or OpenAI's JSON body, as vendors want it that take the pictures to be changed as URLs in `image`, where
 * they also make pictures (Seedream). Their own fields pass as they are. Source: Ark, "Image generation API".
 */
export function writeImageJson(body: Uint8Array | FormContent, upstreamModel: string, warn: Warn): Uint8Array {
  const fields = body instanceof Uint8Array ? parseBody(body) : formFields(body);
  if ((fields["mask"] ?? null) !== null) {
    throw unsupported("mask", "The upstream takes no mask: say in the prompt what is to be changed.");
  }
  const count = countOf(fields["n"]) ?? 1;
  if (count > 1 && fields["sequential_image_generation"] !== "auto") {
    throw unsupported("n", "The upstream makes one picture at a time.");
  }
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || replaced.has(name) || harmless.has(name)) continue;
    if (!isOpenaiOnly(name, value)) out[name] = value;
    else if (value !== "auto") warn(`${name} is not understood by the upstream and was left out`);
  }
  out["model"] = upstreamModel;
  const images = imageUrlsOf(fields);
  if (images.length > 0) out["image"] = images.length === 1 ? images[0] : images;
  return encoder.encode(JSON.stringify(out));
}

const encoder = new TextEncoder();
/** Said in another way, or checked. */
const replaced: ReadonlySet<string> = new Set(["model", "images", "image", "mask", "n"]);
/** Nothing of the picture depends on these; partial pictures may always be fewer than asked. */
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
