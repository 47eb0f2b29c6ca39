import { videoTaskFields } from "@sluice/contract/words";
import ipaddr from "ipaddr.js";
import {
  bounds,
  checkFields,
  type ExemptRule,
  Failure,
  isListed,
  type TaskRequest,
  taskIdOf,
  type VideoMaterial,
} from "#core/index.ts";
import { arrayOf, GovernedNames, isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { type References, referencesIn, unknownTask } from "./references.ts";

/** Vendors take prompts of 2,000 to 32,000 characters. */
const taskPromptCharactersMax = videoTaskFields.prompt.maxLength;
export const taskMetadataBytesMax = 4 * 1024;

/** A video task as its caller asked for it, read and checked; assets are not resolved yet. */
export interface VideoRequest {
  readonly asked: TaskRequest;
  /** The body's own prompt; `asked.prompt` may be what a vendor-shaped `content` says. */
  readonly prompt: string | null;
  readonly material: readonly VideoMaterial[];
  readonly content: readonly unknown[] | null;
  readonly more: JsonObject;
  readonly wantsLastFrame: boolean;
  readonly callbackUrl: string | null;
  readonly metadata: JsonObject;
  readonly references: References;
}

/**
 * Reads the body of POST /v1/video/tasks. What is not ours is collected in `more` and goes on as it is.
 * `webhookPlaces`: the private places that callers may be told at. Throws missing_required_parameter or invalid_request, with
 * the parameter's name.
 */
export function readVideoRequest(body: JsonObject, webhookPlaces: readonly ExemptRule[] = []): VideoRequest {
  for (const name of Object.keys(body)) {
    const meant = ours.variantOf(name);
    if (meant !== null) throw wrong(name, `is another spelling of "${meant}": write "${meant}"`);
  }
  checkFields(body, fields);
  const prompt = textMember(body, "prompt");
  const content = body["content"] === undefined ? null : (body["content"] as readonly unknown[] | null);
  const words = prompt ?? contentPrompt(content);
  if ((words?.length ?? 0) > taskPromptCharactersMax) {
    throw wrong(prompt === null ? "content" : "prompt", `has more than ${taskPromptCharactersMax} characters of text`);
  }
  const remixOf = readRemixOf(body);
  const material = readMaterial(body);
  if ((prompt ?? "").trim() === "" && material.length === 0 && content === null) throw missing("prompt");
  const more = Object.fromEntries(Object.entries(body).filter(([name]) => !ours.has(name)));
  return {
    asked: {
      prompt: words,
      ratio: textMember(body, "ratio"),
      durationSeconds: readDuration(body),
      resolution: textMember(body, "resolution")?.toLowerCase() ?? null,
      audio: booleanOf(body, "audio"),
      watermark: booleanOf(body, "watermark"),
      seed: wholeNumber(body, "seed"),
      ...(remixOf === null ? {} : { remixOf }),
    },
    prompt,
    material,
    content,
    more,
    wantsLastFrame: booleanOf(body, "return_last_frame") ?? false,
    callbackUrl: readCallbackUrl(body["callback_url"] ?? null, webhookPlaces),
    metadata: readMetadata(body["metadata"] ?? null),
    references: referencesIn([material.map(({ url }) => url), content, more], content),
  };
}

/** A remix has the length, the shape and the sound of its video: whoever asks for others must not get these unsaid. */
function readRemixOf(body: JsonObject): string | null {
  const named = textMember(body, "remix_of");
  if (named === null) return null;
  const kept = ofTheVideo.find((name) => (body[name] ?? null) !== null);
  if (kept !== undefined) throw wrong(kept, 'is not taken with "remix_of": a remix keeps what its video has');
  const id = taskIdOf(named);
  if (!/^vt_[0-9A-Za-z]{1,64}$/.test(id)) throw unknownTask(id, "remix_of");
  return id;
}

const ofTheVideo = [
  "ratio",
  "duration",
  "resolution",
  "audio",
  "watermark",
  "seed",
  "image",
  "last_frame",
  "references",
  "content",
  "return_last_frame",
] as const;

/** The model was looked up before. */
const { model: _, ...fields } = videoTaskFields;
const ours = new GovernedNames(Object.keys(videoTaskFields));

/** -1: the vendor decides. Whether one of them does is a matter of capabilities. */
function readDuration(body: JsonObject): number | null {
  const seconds = wholeNumber(body, "duration");
  if (seconds === null || seconds > 0 || seconds === -1) return seconds;
  throw wrong("duration", "must be a whole number of seconds greater than 0");
}

/** What the text items say: shown to the caller, and looked for in a vendor's list. */
function contentPrompt(content: readonly unknown[] | null): string | null {
  const texts = arrayOf(content).flatMap((item) => {
    const text = textOf(objectOf(item)["text"]);
    return text === null ? [] : [text];
  });
  return texts.length === 0 ? null : texts.join("\n");
}

function readMetadata(value: unknown): JsonObject {
  if (value === null) return {};
  const size = new TextEncoder().encode(JSON.stringify(value)).length;
  if (size > taskMetadataBytesMax) {
    throw new Failure("invalid_request", `The parameter "metadata" is larger than ${taskMetadataBytesMax} bytes.`, {
      param: "metadata",
    });
  }
  return value as JsonObject;
}

/**
 * Where the caller wants to be told: a public place, or one of those that an administrator has opened (`places`). What a name
 * resolves to is checked each time something is sent there; what can be seen in the URL itself is refused at once.
 */
function readCallbackUrl(value: unknown, places: readonly ExemptRule[]): string | null {
  if (value === null) return null;
  if (typeof value !== "string" || value.length > bounds.urlBytesMax || !URL.canParse(value)) throw notPublic();
  const url = new URL(value);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const known = url.protocol === "https:" || url.protocol === "http:";
  if (!known || host === "" || url.username !== "" || url.password !== "") throw notPublic();
  const port = url.port === "" ? usualPorts[url.protocol] : Number(url.port);
  if (!isPublic(host) && !isListed(places, host, port ?? 0)) throw notPublic();
  return url.href;
}

const usualPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function isPublic(host: string): boolean {
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === "unicast";
  return host.includes(".") && !host.endsWith(".localhost");
}

const notPublic = () => wrong("callback_url", "must be a public http or https URL without credentials");

type Role = VideoMaterial["role"];
type MediaType = VideoMaterial["type"];

/** `image` (the first frame), `last_frame` and `references`: each a URL, a `data:` URI or `asset://<id>`. */
function readMaterial(body: JsonObject): readonly VideoMaterial[] {
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

/** Members of a caller's body where they are said; null is not said. Throw Failure invalid_request on another type. */
function textMember(body: JsonObject, name: string): string | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === "string") return value;
  throw wrong(name, "must be a string");
}

function booleanOf(body: JsonObject, name: string): boolean | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === "boolean") return value;
  throw wrong(name, "must be true or false");
}

/** Also a negative one. */
function wholeNumber(body: JsonObject, name: string): number | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw wrong(name, "must be a whole number");
}

function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `The parameter "${param}" is missing.`, { param });
}

export function wrong(param: string, why: string): Failure {
  return new Failure("invalid_request", `The parameter "${param}" ${why}.`, { param });
}
