import { bounds, type VideoMaterial } from "#core/index.ts";
import { arrayOf, isObject, type JsonObject } from "#protocols/index.ts";
import { wrong } from "./request-members.ts";

type Role = VideoMaterial["role"];
type MediaType = VideoMaterial["type"];

/** `image` (the first frame), `last_frame` and `references`: each a URL, a `data:` URI or `asset://<id>`. */
export function readMaterial(body: JsonObject): readonly VideoMaterial[] {
  const material: VideoMaterial[] = [];
  const take = (value: unknown, param: string, role: Role): void => {
    if (value !== null) material.push(readOne(value, param, role));
  };
  take(body["image"] ?? null, "image", "first_frame");
  take(body["last_frame"] ?? null, "last_frame", "last_frame");
  const references = body["references"] ?? null;
  const list = arrayOf(references);
  for (const [index, value] of list.entries()) take(value ?? "", `references[${index}]`, "reference");
  return material;
}

function readOne(value: unknown, param: string, role: Role): VideoMaterial {
  const said: JsonObject = isObject(value) ? value : { url: value };
  const { url, type } = { url: said["url"], type: said["type"] ?? null };
  if (typeof url !== "string" || !isSource(url)) {
    throw wrong(
      param,
      "must be an http or https URL, a data: URI of an image, a video or audio, or asset://<asset_id>",
    );
  }
  if (type !== null && type !== "image" && type !== "video" && type !== "audio") {
    throw wrong(`${param}.type`, 'must be "image", "video" or "audio"');
  }
  return { role: readRole(said["role"] ?? null, param, role), type: type ?? typeOf(url), url };
}

const roles: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ["first_frame", "first_frame"],
  ["last_frame", "last_frame"],
  ["reference", "reference"],
  ["reference_image", "reference"],
  ["reference_video", "reference"],
  ["reference_audio", "reference"],
]);

function readRole(value: unknown, param: string, otherwise: Role): Role {
  if (value === null) return otherwise;
  const role = roles.get(value);
  if (role === undefined) throw wrong(`${param}.role`, 'must be "first_frame", "last_frame" or "reference"');
  return role;
}

function isSource(url: string): boolean {
  if (/^data:/i.test(url)) return /^data:(?:image|video|audio)\/[a-z0-9.+-]+(?:;[a-z0-9=.+"-]+)*,/i.test(url);
  if (/^asset:\/\/./i.test(url)) return true;
  return url.length <= bounds.urlBytesMax && /^https?:\/\/[^\s\\@]+$/i.test(url) && URL.canParse(url);
}

/** Where the caller does not say: what a `data:` URI or the end of the path tells, else a picture. */
function typeOf(url: string): MediaType {
  const told = /^data:(image|video|audio)\//i.exec(url)?.[1]?.toLowerCase();
  if (told === "video" || told === "audio") return told;
  if (told === "image" || !/^https?:/i.test(url)) return "image";
  const { pathname } = new URL(url);
  if (/\.(?:mp4|mov|webm|m4v|mkv|avi)$/i.test(pathname)) return "video";
  return /\.(?:mp3|wav|m4a|aac|ogg|flac)$/i.test(pathname) ? "audio" : "image";
}
