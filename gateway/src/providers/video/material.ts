import type { VideoMaterial, VideoTurn } from "#core/index.ts";
import { unsupported } from "./requests.ts";

export interface Material {
  readonly first: string | null;
  readonly last: string | null;
  readonly images: readonly string[];
  readonly videos: readonly string[];
  readonly audios: readonly string[];
}

/** Material by its role. Throws Failure unsupported_by_model for a `content` array or library assets, which only Ark supports. */
export function materialOf({ content, material }: VideoTurn): Material {
  if (content !== null) {
    throw unsupported(
      "content",
      "This model does not support a `content` array: use prompt, image, last_frame and references.",
    );
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

export function refuseReferences(references: readonly string[], what: string): void {
  if (references.length > 0) throw unsupported("references", `This model does not support ${what}.`);
}

export function refuseNonImages({ videos, audios }: Pick<Material, "videos" | "audios">): void {
  refuseReferences([...videos, ...audios], "videos or sounds as references");
}

export function refuseLastFrame({ last }: Material): void {
  if (last !== null) throw unsupported("last_frame", "This model does not support a last frame.");
}

function frame(material: readonly VideoMaterial[], role: "first_frame" | "last_frame"): string | null {
  const frames = material.filter((one) => one.role === role);
  const one = frames[0];
  if (one === undefined) return null;
  if (frames.length > 1) throw unsupported(paramOf(one), `Only one ${role.replace("_", " ")} is supported.`);
  if (one.type !== "image") throw unsupported(paramOf(one), `A ${role.replace("_", " ")} must be an image.`);
  return one.url;
}

function paramOf({ role }: VideoMaterial): string {
  return role === "reference" ? "references" : role === "first_frame" ? "image" : "last_frame";
}

/** null for URLs, and for data that is not base64 (RFC 2397). */
export function readDataUri(url: string): { readonly contentType: string; readonly base64: string } | null {
  const comma = url.indexOf(",");
  if (comma === -1 || !/^data:/i.test(url.slice(0, 5))) return null;
  const [contentType = "", ...parameters] = url.slice(5, comma).split(";");
  if (!parameters.some((parameter) => parameter.trim().toLowerCase() === "base64")) return null;
  return { contentType: contentType.toLowerCase() || "application/octet-stream", base64: url.slice(comma + 1) };
}

/** For vendors that accept URLs or bare base64. */
export function withoutDataPrefix(url: string): string {
  return readDataUri(url)?.base64 ?? url;
}
