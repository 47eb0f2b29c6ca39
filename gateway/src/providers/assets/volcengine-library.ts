import { createHash, createHmac } from "node:crypto";
import { type Asset, type AssetGroup, type AssetStatus, bounds, Failure, type Provider } from "#core/index.ts";
import { isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "../classify-by-status.ts";
import { type BadAnswer, type OutboundDraft, outboundDraft } from "../outbound-draft.ts";
import { pairProblem, settingText } from "../settings.ts";
import type { GoodAnswer } from "../video-adapter.ts";

/** The location of a platform's control API. */
export interface LibraryPlace {
  readonly platform: "volcengine" | "byteplus";
  readonly region: string;
  readonly url: string;
}

/** The host of all control APIs (V). Several clients also send asset actions to it (M). */
export const volcenginePlace: LibraryPlace = {
  platform: "volcengine",
  region: "cn-beijing",
  url: "https://open.volcengineapi.com/",
};
/** Used by many clients (M). */
export const byteplusPlace: LibraryPlace = {
  platform: "byteplus",
  region: "ap-southeast-1",
  url: "https://ark.ap-southeast-1.byteplusapi.com/",
};

export interface LibraryAsset {
  readonly upstreamId: string;
  readonly status: AssetStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly url: string | null;
}

/** An asset or a group in a library. */
interface InLibrary {
  readonly upstreamId: string;
  readonly projectName: string;
}

type GroupTexts = Pick<AssetGroup, "name" | "description" | "projectName">;

/** The fields that a library needs to create an asset. */
export interface AssetTexts extends Pick<Asset, "type" | "name"> {
  readonly upstreamGroupId: string;
  readonly url: string;
  readonly projectName: string;
}

export type AssetLibrary = ReturnType<typeof volcengineLibrary>;

/**
 * The asset library for Seedance 2.x as pure functions: one endpoint with an action per call, signed with an access key (the
 * API key is not accepted). `now` is Unix milliseconds. Pass bad answers to `classify`.
 *
 * No vendor SDK has it (V = read there, M = several third parties, U = unverified): names and shapes are M.
 * `settings.openapi_url`, `settings.region` and `settings.project_name` override the defaults.
 */
export function volcengineLibrary(place: LibraryPlace) {
  const draft = (action: string, provider: Provider, members: JsonObject, now: number): OutboundDraft =>
    signedDraft(place, action, provider, members, now);
  return {
    platform: place.platform,
    /** The setting that the account lacks, as a sentence; null if it has its keys. */
    lacks: (provider: Provider): string | null => {
      const missing = ["access_key_id", "secret_access_key"].find((name) => settingText(provider, name) === null);
      return missing === undefined ? null : `settings.${missing} is required for the asset library`;
    },
    createGroup: (provider: Provider, { name, description, projectName }: GroupTexts, now: number) => {
      const group = { Name: name, Description: description, GroupType: "AIGC" };
      return draft("CreateAssetGroup", provider, { ...group, ...project(provider, projectName) }, now);
    },
    deleteGroup: (provider: Provider, group: InLibrary, now: number) =>
      draft("DeleteAssetGroup", provider, idOf(provider, group), now),
    createAsset: (provider: Provider, { upstreamGroupId, url, type, name, projectName }: AssetTexts, now: number) => {
      const asset = { GroupId: upstreamGroupId, URL: url, AssetType: type, Name: name };
      return draft("CreateAsset", provider, { ...asset, ...project(provider, projectName) }, now);
    },
    getAsset: (provider: Provider, asset: InLibrary, now: number) =>
      draft("GetAsset", provider, idOf(provider, asset), now),
    deleteAsset: (provider: Provider, asset: InLibrary, now: number) =>
      draft("DeleteAsset", provider, idOf(provider, asset), now),
    /** The id of a new asset or group. Throws Failure upstream_error. */
    readId: (answer: GoodAnswer): string => {
      const id = textOf(resultOf(answer)["Id"]);
      if (id === null || id === "" || id.length > bounds.upstreamIdCharactersMax) throw noLibraryAnswer();
      return id;
    },
    readAsset: (answer: GoodAnswer): LibraryAsset => assetOf(resultOf(answer)),
    /** `gone`: there is no such asset or group. `code`: the library's own error code, for callers. */
    classify: (answer: BadAnswer) => {
      const code = errorCode(refusalObject(answer.body));
      // The vendor's API returned NotFound.group_id; NotFound.ProjectName is about the project.
      const gone = code !== null && /^NotFound(\.|$)/.test(code) && !/project/i.test(code);
      return { gone, failure: failureOf(answer, code), code };
    },
  };
}

/** A problem with the library's settings; null if there is none. */
export function libraryProblem(provider: Provider): string | null {
  const url = provider.settings["openapi_url"];
  const isUrl = url === undefined || (typeof url === "string" && /^https?:\/\/[^/?#\s]+\/?$/.test(url));
  const problem = isUrl ? null : "settings.openapi_url must be a URL such as https://open.volcengineapi.com/";
  return pairProblem(provider, "access_key_id", "secret_access_key") ?? problem;
}

function signedDraft(
  place: LibraryPlace,
  action: string,
  provider: Provider,
  members: JsonObject,
  now: number,
): OutboundDraft {
  const accessKeyId = settingText(provider, "access_key_id");
  const secretAccessKey = settingText(provider, "secret_access_key");
  if (accessKeyId === null || secretAccessKey === null) {
    throw new Failure("upstream_error", "The provider has no keys for its asset library.", { retry: "other" });
  }
  const root = (settingText(provider, "openapi_url") ?? place.url).replace(/\/*$/, "/");
  const url = `${root}?Action=${action}&Version=2024-01-01`;
  const body = encoder.encode(JSON.stringify(members));
  const region = settingText(provider, "region") ?? place.region;
  const token = settingText(provider, "session_token");
  const headers = token === null ? {} : { "x-security-token": token };
  const keys = { accessKeyId, secretAccessKey, region, service: "ark" };
  const signature = volcengineSignature({ method: "POST", url, headers, body }, keys, now);
  const json = { "content-type": "application/json", accept: "application/json" };
  return outboundDraft(provider, url, { method: "POST", headers: { ...json, ...headers, ...signature }, body });
}

/** The group's project, else the account's; the vendor's default is `default`. */
function project(provider: Provider, name: string): { ProjectName?: string } {
  const chosen = name === "" ? settingText(provider, "project_name") : name;
  return chosen === null ? {} : { ProjectName: chosen };
}

function idOf(provider: Provider, { upstreamId, projectName }: InLibrary): JsonObject {
  return { Id: upstreamId, ...project(provider, projectName) };
}

/** Throws Failure upstream_error without a result or with a refusal. */
function resultOf(answer: GoodAnswer): JsonObject {
  const envelope = refusalObject(answer.body);
  const code = errorCode(envelope);
  if (code !== null) throw failureOf({ status: 400, headers: answer.headers, body: answer.body, now: 0 }, code);
  const result = envelope["Result"];
  if (!isObject(result)) throw noLibraryAnswer();
  return result;
}

/** Any other status means still processing: `Inactive`, on a few pages, is U. */
function assetOf(result: JsonObject): LibraryAsset {
  const upstreamId = textOf(result["Id"]);
  const word = textOf(result["Status"]);
  if (upstreamId === null || word === null) throw noLibraryAnswer();
  const status = word === "Active" || word === "Failed" ? word : "Processing";
  const error = objectOf(result["Error"]);
  const code = textOf(error["Code"]) ?? "asset_failed";
  const message = textOf(error["Message"]) ?? "The library refused the asset.";
  const refused = { code, message: message.slice(0, bounds.taskErrorCharactersMax) };
  return { upstreamId, status, error: status === "Failed" ? refused : null, url: textOf(result["URL"]) };
}

function errorCode(envelope: JsonObject): string | null {
  return textOf(objectOf(objectOf(envelope["ResponseMetadata"])["Error"])["Code"]);
}

function failureOf(answer: BadAnswer, code: string | null): Failure {
  const refused = code !== null && accountCodes.has(code);
  return classifyByStatus(answer, { account: refused ? "credential" : null });
}

function noLibraryAnswer(): Failure {
  return new Failure("upstream_error", "The asset library returned an invalid answer.", { retry: "same" });
}

/** Codes for the key and its plan; the signature codes are U. */
const accountCodes: ReadonlySet<string> = new Set([
  "AccessDenied",
  "SubscriptionRequired",
  "SignatureDoesNotMatch",
  "InvalidAccessKey",
  "InvalidAccessKeyId",
  "MissingAuthenticationToken",
  "InvalidSecurityToken",
  "InvalidTimestamp",
  "InvalidAction",
]);

const encoder = new TextEncoder();

interface SignableRequest extends Pick<OutboundDraft, "method" | "url"> {
  /** Signed in addition to host, date and digest; lowercase names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Signature headers for Volcengine's and BytePlus' control plane: HMAC-SHA256 as in `base/sign.go` of the vendor's Go SDK.
 * `now` is Unix milliseconds.
 */
export function volcengineSignature(
  { method, url, headers, body }: SignableRequest,
  keys: Readonly<Record<"accessKeyId" | "secretAccessKey" | "region" | "service", string>>,
  now: number,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url);
  const at = new Date(now).toISOString().replace(/\.\d+|[:-]/g, "");
  const digest = sha256(body);
  const dateAndDigest = { "x-content-sha256": digest, "x-date": at };
  const signed = Object.entries({ ...headers, ...dateAndDigest, host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join("");
  const canonical = [method, pathname, canonicalQuery(searchParams), lines, names, digest].join("\n");
  const day = at.slice(0, 8);
  const scope = `${day}/${keys.region}/${keys.service}/request`;
  const text = ["HMAC-SHA256", at, scope, sha256(canonical)].join("\n");
  const key = [day, keys.region, keys.service, "request"].reduce<string | Buffer>(hmac, keys.secretAccessKey);
  const signature = hmac(key, text).toString("hex");
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  return {
    ...dateAndDigest,
    authorization: `HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]): [string, string] => [percent(name), percent(value)])
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** RFC 3986: also encodes the reserved characters that encodeURIComponent leaves. */
function percent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** By code units, then by value. */
function byName([a, first]: readonly [string, string], [b, second]: readonly [string, string]): number {
  if (a !== b) return a < b ? -1 : 1;
  return first < second ? -1 : first > second ? 1 : 0;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
