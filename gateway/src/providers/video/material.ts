import type { VideoMaterial, VideoTurn } from "#core/index.ts";
import { unsupported } from "./requests.ts";

export interface Material {
  readonly first: string | null;
  readonly last: string | null;
  readonly images: readonly string[];
  readonly videos: readonly string[];
  readonly audios: readonly string[];
}

/**
 * A turn's material by what it is for. Throws Failure unsupported_by_model for what only Ark reads: a `content` array,
 * and references into an asset library.
 */
export function materialOf({ content, material }: VideoTurn): Material {
  if (content !== null) {
    throw unsupported("content", "This model reads no `content` array: use prompt, image, last_frame and references.");
  }
  const foreign = material.find(({ url }) => /^asset:\/\//i.test(url));
  if (foreign !== undefined) throw unsupported(paramOf(foreign), "This model's upstream has no asset library.");
  const references = (type: VideoMaterial["type"]): readonly string[] =>
    material.filter((one) => one.role === "reference" && one.type === type).map(({ url }) => url);
  return {
    first: frame(material, "first_frame"),
    last: frame(material, "last_frame"),
    images: references("image"),
    videos: references("video"),
    audios: references("audio"),
  };
}

/** For models that take no references, or none of some type. */
export function refuseReferences(references: readonly string[], what: string): void {
  if (references.length > 0) throw unsupported("references", `This model takes no ${what}.`);
}

export function refuseLastFrame({ last }: Material): void {
  if (last !== null) throw unsupported("last_frame", "This model takes no last frame.");
}

function frame(material: readonly VideoMaterial[], role: "first_frame" | "last_frame"): string | null {
  const frames = material.filter((one) => one.role === role);
  const one = frames[0];
  if (one === undefined) return null;
  if (frames.length > 1) throw unsupported(paramOf(one), `There can be one ${role.replace("_", " ")} only.`);
  if (one.type !== "image") throw unsupported(paramOf(one), `A ${role.replace("_", " ")} is an image.`);
  return one.url;
}

function paramOf({ role }: VideoMaterial): string {
  return role === "reference" ? "references" : role === "first_frame" ? "image" : "last_frame";
}

/** What a `data:` URI holds as base64; null for an address, and for data in another form (RFC 2397). */
export function readDataUri(url: string): { readonly contentType: string; readonly base64: string } | null {
  const comma = url.indexOf(",");
  if (comma === -1 || !/^data:/i.test(url.slice(0, 5))) return null;
  const [contentType = "", ...parameters] = url.slice(5, comma).split(";");
  if (!parameters.some((parameter) => parameter.trim().toLowerCase() === "base64")) return null;
  return { contentType: contentType.toLowerCase() || "application/octet-stream", base64: url.slice(comma + 1) };
}

/** For vendors that take an address or bare base64, and refuse the prefix. */
export function withoutDataPrefix(url: string): string {
  return readDataUri(url)?.base64 ?? url;
}
