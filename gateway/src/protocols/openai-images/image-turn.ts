import type { ImageMedia, ImageSize, ImageTurn } from "#core/index.ts";
import type { FormContent } from "#ports/index.ts";
import type { Warn } from "../codec.ts";
import { countOf, type JsonObject, missing, parseBody, textOf, unsupported, wrong } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { plainName } from "../turn/warnings.ts";
import { formFields, imageUrlOf, imageUrlsOf } from "./image-fields.ts";

/** A JSON body that asks for pictures, or for changed ones, in neutral form. */
export function readImageTurn(body: Uint8Array, warn: Warn): ImageTurn {
  return turnOf(parseBody(body), warn);
}

/** The same of a form. */
export function readImageForm(content: FormContent, warn: Warn): ImageTurn {
  return turnOf(formFields(content), warn);
}

function turnOf(fields: JsonObject, warn: Warn): ImageTurn {
  const prompt = textOf(fields["prompt"]);
  if (prompt === null || prompt === "") throw missing("prompt");
  warnOfUnknown(fields, warn);
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

/** What the neutral form says, and what does not change the picture. */
const known: ReadonlySet<string> = new Set([
  ...["model", "prompt", "n", "size", "quality", "background", "output_format", "image", "images", "mask", "stream"],
  ...["partial_images", "response_format", "user", "safety_identifier", "moderation"],
]);

function warnOfUnknown(fields: JsonObject, warn: Warn): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || known.has(name)) continue;
    warn(`${plainName(name)} is not understood by the upstream and was left out`);
  }
  if (fields["response_format"] === "url") warn("the upstream gives its pictures in the answer, not as URLs");
}

function readCount(value: unknown): number {
  if (value === null) return 1;
  const count = countOf(value);
  if (count === null || count === 0) throw wrong("n", "must be a whole number above 0");
  return count;
}

/** Other vendors name sizes in other ways, which another deployment may understand. */
function readSize(value: unknown, warn: Warn): ImageSize | null {
  const text = textOf(value);
  if (text === null || text === "" || text === "auto") return null;
  const [, width, height] = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(text) ?? [];
  if (width !== undefined && height !== undefined) return { width: Number(width), height: Number(height) };
  warn("size is not understood by the upstream and was left out");
  return null;
}

function mediaOf(param: string, url: string): ImageMedia {
  const read = readDataUri(url);
  if (read === null) throw unsupported(param, "This upstream needs its pictures inside the request, as data URIs.");
  if (!read.mediaType.startsWith("image/")) throw wrong(param, "is no picture");
  return { mediaType: read.mediaType === "image/jpg" ? "image/jpeg" : read.mediaType, data: read.data };
}
