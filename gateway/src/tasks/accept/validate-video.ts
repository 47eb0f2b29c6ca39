import { videoTaskFields } from "@sluice/contract/words";
import ipaddr from "ipaddr.js";
import {
  bounds,
  type Checked,
  checkFields,
  type ExemptRule,
  Failure,
  isListed,
  noSuchObject,
  storedFileId,
  type TaskRequest,
  taskIdOf,
  type VideoMaterial,
} from "#core/index.ts";
import { arrayOf, GovernedNames, isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";

/** Vendors take prompts of 2,000 to 32,000 characters. */
const taskPromptCharactersMax = videoTaskFields.prompt.maxLength;
export const taskMetadataBytesMax = 4 * 1024;

/** A validated request for a video; assets are not resolved yet. */
export interface VideoRequest {
  readonly params: TaskRequest;
  /** The field `prompt`; `params.prompt` may come from a vendor-shaped `content`. */
  readonly prompt: string | null;
  readonly material: readonly VideoMaterial[];
  readonly content: readonly unknown[] | null;
  readonly vendorFields: JsonObject;
  readonly wantsLastFrame: boolean;
  readonly callbackUrl: string | null;
  readonly metadata: JsonObject;
  readonly references: References;
  /** Files of the workspace that the material names. */
  readonly files: readonly VideoFile[];
}

/** A file that is used as material. `param`: the member that names it. */
export interface VideoFile extends Pick<VideoMaterial, "role" | "url"> {
  readonly id: string;
  readonly param: string;
}

/**
 * Validates the body of POST /v1/video/tasks. Fields of a vendor are collected in `vendorFields`. `webhookExemptions` lists private
 * targets that callbacks may reach. Throws missing_required_parameter or invalid_request with the name of the parameter.
 */
export function readVideoRequest(body: JsonObject, webhookExemptions: readonly ExemptRule[] = []): VideoRequest {
  for (const name of Object.keys(body)) {
    const correctName = fieldNames.variantOf(name);
    if (correctName !== null) throw invalidParameter(name, `is a misspelling of "${correctName}"`);
  }
  const input = checkFields(body, fields);
  const { prompt = null, content = null } = input;
  const promptText = prompt ?? contentPrompt(content);
  if ((promptText?.length ?? 0) > taskPromptCharactersMax) {
    throw invalidParameter(
      prompt === null ? "content" : "prompt",
      `has more than ${taskPromptCharactersMax} characters of text`,
    );
  }
  const remixOf = readRemixOf(input);
  const files: VideoFile[] = [];
  const material = readMaterial(input, files);
  if ((prompt ?? "").trim() === "" && material.length === 0 && content === null) {
    throw new Failure("missing_required_parameter", 'The parameter "prompt" is missing.', { param: "prompt" });
  }
  const vendorFields = Object.fromEntries(Object.entries(body).filter(([name]) => !fieldNames.has(name)));
  return {
    params: {
      prompt: promptText,
      ratio: input.ratio ?? null,
      durationSeconds: readDuration(input),
      resolution: input.resolution?.toLowerCase() ?? null,
      audio: input.audio ?? null,
      watermark: input.watermark ?? null,
      seed: input.seed ?? null,
      ...(remixOf === null ? {} : { remixOf }),
    },
    prompt,
    material,
    content,
    vendorFields,
    wantsLastFrame: input.return_last_frame ?? false,
    callbackUrl: readCallbackUrl(input.callback_url ?? null, webhookExemptions),
    metadata: readMetadata(input.metadata ?? {}),
    references: referencesIn([material.map(({ url }) => url), content, vendorFields], content),
    files,
  };
}

/** A remix keeps length, shape and sound of its video, so a request for other values is refused. */
function readRemixOf(requested: VideoFields): string | null {
  const { remix_of: remixOf } = requested;
  if (remixOf == null) return null;
  const conflicting = Object.keys(fields).find(
    (name) => !remixFields.has(name) && requested[name as keyof VideoFields] != null,
  );
  if (conflicting !== undefined)
    throw invalidParameter(conflicting, 'is not taken with "remix_of": a remix keeps what its video has');
  const id = taskIdOf(remixOf);
  if (!/^vt_[0-9A-Za-z]{1,64}$/.test(id)) throw noSuchTask(id, "remix_of");
  return id;
}

const remixFields: ReadonlySet<string> = new Set(["prompt", "remix_of", "callback_url", "metadata"]);

const { model: _, ...fields } = videoTaskFields;
type VideoFields = Checked<typeof fields>;
const fieldNames = new GovernedNames(Object.keys(videoTaskFields));

/** A duration of -1 lets the vendor decide, if its capabilities allow that. */
function readDuration({ duration: seconds = null }: VideoFields): number | null {
  if (seconds === null || seconds > 0 || seconds === -1) return seconds;
  throw invalidParameter("duration", "must be an integer number of seconds greater than 0");
}

function contentPrompt(content: readonly unknown[] | null): string | null {
  const texts = arrayOf(content).flatMap((item) => {
    const text = textOf(objectOf(item)["text"]);
    return text === null ? [] : [text];
  });
  return texts.length === 0 ? null : texts.join("\n");
}

function readMetadata(value: JsonObject): JsonObject {
  const size = new TextEncoder().encode(JSON.stringify(value)).length;
  if (size > taskMetadataBytesMax) throw invalidParameter("metadata", `is larger than ${taskMetadataBytesMax} bytes`);
  return value;
}

/** Accepts public URLs and the exempt private ones. The transport checks resolved addresses again at each delivery. */
function readCallbackUrl(value: string | null, exemptions: readonly ExemptRule[]): string | null {
  if (value === null) return null;
  if (value.length > bounds.urlBytesMax || !URL.canParse(value)) throw invalidCallbackUrl();
  const url = new URL(value);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  if (!isWeb || host === "" || url.username !== "" || url.password !== "") throw invalidCallbackUrl();
  const port = url.port === "" ? usualPorts[url.protocol] : Number(url.port);
  if (!isPublic(host) && !isListed(exemptions, host, port ?? 0)) throw invalidCallbackUrl();
  return url.href;
}

const usualPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function isPublic(host: string): boolean {
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === "unicast";
  return host.includes(".") && !host.endsWith(".localhost");
}

const invalidCallbackUrl = () =>
  invalidParameter("callback_url", "must be a public http or https URL without credentials");

type Role = VideoMaterial["role"];
type MediaType = VideoMaterial["type"];

/** Each value is a URL, a `data:` URI, `asset://<id>` or `{file_id}`. Adds the files to `files`. */
function readMaterial({ image, last_frame, references }: VideoFields, files: VideoFile[]): readonly VideoMaterial[] {
  return [
    ...(image == null ? [] : [readMaterialItem(image, "image", "first_frame", files)]),
    ...(last_frame == null ? [] : [readMaterialItem(last_frame, "last_frame", "last_frame", files)]),
    ...(references ?? []).map((value, index) => readMaterialItem(value, `references[${index}]`, "reference", files)),
  ];
}

function readMaterialItem(value: unknown, param: string, usualRole: Role, files: VideoFile[]): VideoMaterial {
  const item: JsonObject = isObject(value) ? value : { url: value };
  const { type, fileId } = { type: item["type"] ?? null, fileId: item["file_id"] ?? null };
  const url = fileId === null ? item["url"] : fileUrl(fileId, `${param}.file_id`);
  if (typeof url !== "string" || (fileId === null ? !isMediaUrl(url) : (item["url"] ?? null) !== null)) {
    throw invalidParameter(
      param,
      "must be an http or https URL, a data: URI of an image, a video or audio, asset://<asset_id>, or an object with the file_id of such a file",
    );
  }
  if (type !== null && type !== "image" && type !== "video" && type !== "audio") {
    throw invalidParameter(`${param}.type`, 'must be "image", "video" or "audio"');
  }
  const role = readRole(item["role"] ?? null, param, usualRole);
  if (fileId !== null) files.push({ role, url, id: String(fileId), param: `${param}.file_id` });
  return { role, type: type ?? typeOf(url), url };
}

/** The same for the id in every dialect's form. Callers cannot send such a URL. */
function fileUrl(id: unknown, param: string): string {
  if (typeof id !== "string") throw invalidParameter(param, "must be the id of a file");
  const stored = storedFileId(id);
  if (stored === null) throw noSuchObject({ id, param });
  return `file:${stored}`;
}

function readRole(value: unknown, param: string, fallback: Role): Role {
  if (value === null) return fallback;
  if (value === "first_frame" || value === "last_frame") return value;
  if (typeof value === "string" && /^reference(?:_image|_video|_audio)?$/.test(value)) return "reference";
  throw invalidParameter(`${param}.role`, 'must be "first_frame", "last_frame" or "reference"');
}

function isMediaUrl(url: string): boolean {
  if (/^data:/i.test(url)) return /^data:(?:image|video|audio)\/[a-z0-9.+-]+(?:;[a-z0-9=.+"-]+)*,/i.test(url);
  if (/^asset:\/\/./i.test(url)) return true;
  return url.length <= bounds.urlBytesMax && /^https?:\/\/[^\s\\@]+$/i.test(url) && URL.canParse(url);
}

/** The type from a `data:` URI or a file extension. Default: image. */
function typeOf(url: string): MediaType {
  const dataType = /^data:(image|video|audio)\//i.exec(url)?.[1]?.toLowerCase();
  if (dataType === "video" || dataType === "audio") return dataType;
  if (dataType === "image" || !/^https?:/i.test(url)) return "image";
  const { pathname } = new URL(url);
  if (/\.(?:mp4|mov|webm|m4v|mkv|avi)$/i.test(pathname)) return "video";
  return /\.(?:mp3|wav|m4a|aac|ogg|flac)$/i.test(pathname) ? "audio" : "image";
}

export function invalidParameter(param: string, why: string): Failure {
  return new Failure("invalid_request", `The parameter "${param}" ${why}.`, { param });
}

const taskMaterialMax = videoTaskFields.references.maxItems;

/** Assets and tasks that a body refers to. Each must belong to the caller's workspace. */
interface References {
  /** `as_…`, without duplicates. */
  readonly assetIds: readonly string[];
  /** Ark's drafts that the request continues: `vt_…`. */
  readonly taskIds: readonly string[];
}

const assetScheme = /^asset:\/\/(.*)$/is;

/**
 * Finds every `asset://` in a body, including in the vendor's own fields. Workspaces share upstream accounts, so an
 * upstream's own asset id may belong to another workspace: only our ids are accepted.
 */
function referencesIn(values: readonly unknown[], content: readonly unknown[] | null): References {
  const assetIds = new Set<string>();
  const collect = (text: string): void => {
    const id = assetScheme.exec(text)?.[1];
    if (id === undefined) return;
    if (!/^as_[A-Za-z0-9_-]{1,128}$/.test(id)) throw noSuchAsset(id);
    assetIds.add(id);
  };
  for (const value of values) forEachText(value, collect);
  if (assetIds.size > taskMaterialMax) {
    throw new Failure("invalid_request", `A task can use at most ${taskMaterialMax} assets.`);
  }
  const taskIds = (content ?? []).flatMap((item) => draftId(item) ?? []);
  for (const id of taskIds) {
    if (!/^vt_[A-Za-z0-9_-]{1,128}$/.test(id)) throw noSuchTask(id, "content");
  }
  return { assetIds: [...assetIds], taskIds };
}

/** Replaces references with the upstream's ids or URLs. */
export function withReferences(value: unknown, replacements: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return replacements.get(assetScheme.exec(value)?.[1] ?? "") ?? value;
  if (Array.isArray(value)) return value.map((item) => withReferences(item, replacements));
  if (!isObject(value)) return value;
  const changed = Object.entries(value).map(([name, inner]) => [name, withReferences(inner, replacements)] as const);
  const draft = draftId(value);
  const upstreamId = draft === null ? undefined : replacements.get(draft);
  if (upstreamId === undefined) return Object.fromEntries(changed);
  return Object.fromEntries([...changed, ["draft_task", { ...objectOf(value["draft_task"]), id: upstreamId }]]);
}

/** The failure for a missing task, and for one that the caller may not see. */
export function noSuchTask(id: string, param = "task_id"): Failure {
  return new Failure("task_not_found", `There is no video task with the id "${id.slice(0, 128)}".`, { param });
}

export function noSuchAsset(id: string): Failure {
  return new Failure("asset_not_found", `There is no asset with the id "${id.slice(0, 128)}".`);
}

/** Ark: `{"type":"draft_task","draft_task":{"id":"cgt-…"}}`. Callers send our own task id. */
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
