import { videoTaskFields } from "@sluice/contract/words";
import ipaddr from "ipaddr.js";
import {
  bounds,
  type Checked,
  checkFields,
  type ExemptRule,
  Failure,
  isListed,
  type TaskRequest,
  taskIdOf,
  type VideoMaterial,
} from "#core/index.ts";
import { arrayOf, GovernedNames, isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";

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
  const said = checkFields(body, fields);
  const { prompt = null, content = null } = said;
  const words = prompt ?? contentPrompt(content);
  if ((words?.length ?? 0) > taskPromptCharactersMax) {
    throw wrong(prompt === null ? "content" : "prompt", `has more than ${taskPromptCharactersMax} characters of text`);
  }
  const remixOf = readRemixOf(said);
  const material = readMaterial(said);
  if ((prompt ?? "").trim() === "" && material.length === 0 && content === null) {
    throw new Failure("missing_required_parameter", 'The parameter "prompt" is missing.', { param: "prompt" });
  }
  const more = Object.fromEntries(Object.entries(body).filter(([name]) => !ours.has(name)));
  return {
    asked: {
      prompt: words,
      ratio: said.ratio ?? null,
      durationSeconds: readDuration(said),
      resolution: said.resolution?.toLowerCase() ?? null,
      audio: said.audio ?? null,
      watermark: said.watermark ?? null,
      seed: said.seed ?? null,
      ...(remixOf === null ? {} : { remixOf }),
    },
    prompt,
    material,
    content,
    more,
    wantsLastFrame: said.return_last_frame ?? false,
    callbackUrl: readCallbackUrl(said.callback_url ?? null, webhookPlaces),
    metadata: readMetadata(said.metadata ?? {}),
    references: referencesIn([material.map(({ url }) => url), content, more], content),
  };
}

/** A remix has the length, the shape and the sound of its video: whoever asks for others must not get these unsaid. */
function readRemixOf(said: Said): string | null {
  const { remix_of: named } = said;
  if (named == null) return null;
  const kept = Object.keys(fields).find((name) => !ofTheRemix.has(name) && said[name as keyof Said] != null);
  if (kept !== undefined) throw wrong(kept, 'is not taken with "remix_of": a remix keeps what its video has');
  const id = taskIdOf(named);
  if (!/^vt_[0-9A-Za-z]{1,64}$/.test(id)) throw noSuchTask(id, "remix_of");
  return id;
}

const ofTheRemix: ReadonlySet<string> = new Set(["prompt", "remix_of", "callback_url", "metadata"]);

/** The model was looked up before. */
const { model: _, ...fields } = videoTaskFields;
type Said = Checked<typeof fields>;
const ours = new GovernedNames(Object.keys(videoTaskFields));

/** -1: the vendor decides. Whether one of them does is a matter of capabilities. */
function readDuration({ duration: seconds = null }: Said): number | null {
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

function readMetadata(value: JsonObject): JsonObject {
  const size = new TextEncoder().encode(JSON.stringify(value)).length;
  if (size > taskMetadataBytesMax) throw wrong("metadata", `is larger than ${taskMetadataBytesMax} bytes`);
  return value;
}

/**
 * Where the caller wants to be told: a public place, or one of those that an administrator has opened (`places`). What a name
 * resolves to is checked each time something is sent there; what can be seen in the URL itself is refused at once.
 */
function readCallbackUrl(value: string | null, places: readonly ExemptRule[]): string | null {
  if (value === null) return null;
  if (value.length > bounds.urlBytesMax || !URL.canParse(value)) throw notPublic();
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
function readMaterial({ image, last_frame, references }: Said): readonly VideoMaterial[] {
  return [
    ...(image == null ? [] : [readOne(image, "image", "first_frame")]),
    ...(last_frame == null ? [] : [readOne(last_frame, "last_frame", "last_frame")]),
    ...(references ?? []).map((value, index) => readOne(value, `references[${index}]`, "reference")),
  ];
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

export function wrong(param: string, why: string): Failure {
  return new Failure("invalid_request", `The parameter "${param}" ${why}.`, { param });
}

const taskMaterialMax = videoTaskFields.references.maxItems;

/** What a body refers to that belongs to somebody: each must be the caller's own workspace's. */
interface References {
  /** Our ids, `as_…`, each once. */
  readonly assetIds: readonly string[];
  /** Tasks that are gone on from (Ark's drafts), our ids, `vt_…`. */
  readonly taskIds: readonly string[];
}

const assetScheme = /^asset:\/\/(.*)$/is;

/**
 * Every `asset://` anywhere in a body, also in members that are the vendor's: an upstream account is shared by workspaces,
 * so what it knows under an id of its own may be another's. Such ids are therefore taken for missing, not passed on.
 */
function referencesIn(values: readonly unknown[], content: readonly unknown[] | null): References {
  const assetIds = new Set<string>();
  const note = (text: string): void => {
    const id = assetScheme.exec(text)?.[1];
    if (id === undefined) return;
    if (!/^as_[A-Za-z0-9_-]{1,128}$/.test(id)) throw noSuchAsset(id);
    assetIds.add(id);
  };
  for (const value of values) forEachText(value, note);
  if (assetIds.size > taskMaterialMax) {
    throw new Failure("invalid_request", `More than ${taskMaterialMax} assets in one task.`);
  }
  const taskIds = (content ?? []).flatMap((item) => draftId(item) ?? []);
  for (const id of taskIds) {
    if (!/^vt_[A-Za-z0-9_-]{1,128}$/.test(id)) throw noSuchTask(id, "content");
  }
  return { assetIds: [...assetIds], taskIds };
}

/** The value with each reference replaced by what the upstream is to be given. */
export function withReferences(value: unknown, known: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return known.get(assetScheme.exec(value)?.[1] ?? "") ?? value;
  if (Array.isArray(value)) return value.map((item) => withReferences(item, known));
  if (!isObject(value)) return value;
  const changed = Object.entries(value).map(([name, inner]) => [name, withReferences(inner, known)] as const);
  const draft = draftId(value);
  const upstreamId = draft === null ? undefined : known.get(draft);
  if (upstreamId === undefined) return Object.fromEntries(changed);
  return Object.fromEntries([...changed, ["draft_task", { ...objectOf(value["draft_task"]), id: upstreamId }]]);
}

/** Also said of one that is not for whoever asks. */
export function noSuchTask(id: string, param = "task_id"): Failure {
  return new Failure("task_not_found", `There is no video task with the id "${id.slice(0, 128)}".`, { param });
}

export function noSuchAsset(id: string): Failure {
  return new Failure("asset_not_found", `There is no asset with the id "${id.slice(0, 128)}".`);
}

/** Ark: `{"type":"draft_task","draft_task":{"id":"cgt-…"}}`; callers of ours write our own id. */
function draftId(item: unknown): string | null {
  if (!isObject(item) || !isObject(item["draft_task"])) return null;
  const id = item["draft_task"]["id"];
  return typeof id === "string" ? taskIdOf(id) : "";
}

function forEachText(value: unknown, act: (text: string) => void): void {
  if (typeof value === "string") act(value);
  else if (Array.isArray(value)) for (const item of value) forEachText(item, act);
  else if (isObject(value)) for (const inner of Object.values(value)) forEachText(inner, act);
}
