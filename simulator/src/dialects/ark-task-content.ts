import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectOf, stringOf } from "../json-body.ts";
import type { ArkFamily } from "./ark-family.ts";

/** The content of a task. */
export interface ArkContent {
  /** The last text item. */
  readonly text: string;
  readonly materials: readonly ArkMaterial[];
  readonly draftTask: string | null;
}

export interface ArkMaterial {
  readonly kind: "image" | "video" | "audio";
  readonly role: string;
  readonly url: string;
  /** The id of an `asset://` reference. */
  readonly asset: string | null;
}

/** Parses and checks `content`. Throws Refusal. */
export function readArkContent(content: unknown, family: ArkFamily | null): ArkContent {
  if (!Array.isArray(content) || content.length === 0) throw missing("content");
  let text = "";
  let draftTask: string | null = null;
  const materials: ArkMaterial[] = [];
  for (const [index, item] of content.entries()) {
    const at = `content[${index}]`;
    if (!isObject(item)) throw invalid(at, "is not an object");
    if (item["type"] === "text") text = textOf(item, at);
    else if (item["type"] === "draft_task") draftTask = stringOf(objectOf(item["draft_task"])["id"]);
    else materials.push(materialOf(item, at));
  }
  checkRoles(materials);
  checkCounts(materials, family);
  return { text, materials, draftTask };
}

export function missing(name: string): Refusal {
  const message = `The request failed because it is missing one or multiple required parameters: \`${name}\`.`;
  return new Refusal(400, message, { param: name, code: `MissingParameter.${name}` });
}

export function invalid(name: string, why: string): Refusal {
  const message = `The parameter \`${name}\` specified in the request is not valid: it ${why}.`;
  return new Refusal(400, message, { param: name, code: "InvalidParameter" });
}

export function unsupported(name: string): Refusal {
  const message = `The parameter \`${name}\` specified in the request is not supported by the model.`;
  return new Refusal(400, message, { param: name, code: "InvalidParameter.UnsupportedParameter" });
}

function textOf(item: JsonObject, at: string): string {
  const { text } = item;
  if (typeof text !== "string" || text === "") throw missing(`${at}.text`);
  return text;
}

const kinds = { image_url: "image", video_url: "video", audio_url: "audio" } as const;

function materialOf(item: JsonObject, at: string): ArkMaterial {
  const type = stringOf(item["type"]);
  if (type !== "image_url" && type !== "video_url" && type !== "audio_url") throw invalid(`${at}.type`, "is unknown");
  const kind = kinds[type];
  const url = stringOf(objectOf(item[type])["url"]);
  if (url === "") throw missing(`${at}.${type}.url`);
  const asset = /^asset:\/\/(.+)$/i.exec(url)?.[1] ?? null;
  if (asset === null && !isFetchable(url, kind)) {
    const message = `The ${kind} specified in the request could not be downloaded from its URL.`;
    throw new Refusal(400, message, {
      param: `${at}.${type}`,
      code: kind === "image" ? "InvalidImageURL.InvalidFormat" : "InvalidParameter",
    });
  }
  const { role } = item;
  const allowed = kind === "image" ? ["first_frame", "last_frame", "reference_image"] : [`reference_${kind}`];
  if (role !== undefined && !allowed.includes(stringOf(role))) throw invalid(`${at}.role`, "does not fit the material");
  return { kind, role: stringOf(role), url, asset };
}

/** Data URLs are accepted for images and audio, with the format in lower case. */
function isFetchable(url: string, kind: string): boolean {
  if (/^https?:\/\/[^/]/.test(url)) return true;
  return kind !== "video" && new RegExp(`^data:${kind}/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+=*$`).test(url.slice(0, 4096));
}

function checkRoles(materials: readonly ArkMaterial[]): void {
  const images = materials.filter(({ kind }) => kind === "image");
  const count = (role: string): number => images.filter((image) => image.role === role).length;
  const frames = count("first_frame") + count("last_frame");
  const references = materials.filter(({ role }) => role.startsWith("reference_")).length;
  if (count("") > 0 && materials.length > 1) throw missing("content.role");
  if (frames > 0 && references > 0) throw invalid("content", "mixes first and last frames with references");
  if (count("first_frame") > 1 || count("last_frame") > 1) throw invalid("content", "has several frames of one role");
  if (count("last_frame") === 1 && count("first_frame") === 0) {
    throw invalid("content", "has a last frame without a first one");
  }
  const hasAudio = materials.some(({ kind }) => kind === "audio");
  if (hasAudio && materials.every(({ kind }) => kind === "audio")) throw invalid("content", "has audio alone");
}

function checkCounts(materials: readonly ArkMaterial[], family: ArkFamily | null): void {
  if (family === null) return;
  const [images, videos, audios] = family.references;
  const limits = { reference_image: images, reference_video: videos, reference_audio: audios };
  for (const [role, limit] of Object.entries(limits)) {
    // Videos and audio need no role, because they can only be references.
    const count = materials.filter((one) => (one.role || `reference_${one.kind}`) === role && !isFrame(one)).length;
    if (count > limit) throw invalid("content", `has ${count} items as ${role}, and the model takes ${limit}`);
  }
}

/** A single image without a role is the first frame. */
function isFrame({ kind, role }: ArkMaterial): boolean {
  return kind === "image" && !role.startsWith("reference_");
}
