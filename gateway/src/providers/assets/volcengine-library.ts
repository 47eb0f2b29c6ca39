import { createHash, createHmac } from "node:crypto";
import { bounds, Failure, type Provider } from "#core/index.ts";
import { isObject, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import type { AssetLibrary, LibraryAsset } from "../asset-library.ts";
import { classifyByStatus, refusalObject } from "../classify-by-status.ts";
import type { OutboundDraft } from "../outbound-draft.ts";
import { settingText } from "../settings.ts";
import type { GoodAnswer } from "../video-adapter.ts";

export interface Place {
  readonly platform: AssetLibrary["platform"];
  readonly region: string;
  readonly url: string;
}

/** The generic control host (V); that the actions of assets live there is M. */
export const volcenginePlace: Place = {
  platform: "volcengine",
  region: "cn-beijing",
  url: "https://open.volcengineapi.com/",
};
/** M, of many clients. */
export const byteplusPlace: Place = {
  platform: "byteplus",
  region: "ap-southeast-1",
  url: "https://ark.ap-southeast-1.byteplusapi.com/",
};

/**
 * The library of reusable material for Seedance 2.x: one endpoint, an action each, signed with an access key (the API
 * key is not taken). Not in any SDK of the vendor (V = read there, M = several third parties, U = unverified): names and
 * shapes are M. `settings.openapi_url` and `settings.region` say where, `settings.project_name` in which project.
 */
export function volcengineLibrary(place: Place): AssetLibrary {
  const draft = (action: string, provider: Provider, members: JsonObject, now: number): OutboundDraft =>
    signedDraft(place, action, provider, members, now);
  return {
    platform: place.platform,
    lacks: libraryLack,
    createGroup: (provider, group, now) => {
      const about = { Name: group.name, Description: group.description, GroupType: "AIGC" };
      return draft("CreateAssetGroup", provider, { ...about, ...project(provider, group.projectName) }, now);
    },
    getGroup: (provider, group, now) => draft("GetAssetGroup", provider, named(provider, group), now),
    deleteGroup: (provider, group, now) => draft("DeleteAssetGroup", provider, named(provider, group), now),
    createAsset: (provider, asset, now) => {
      const about = { GroupId: asset.upstreamGroupId, URL: asset.url, AssetType: asset.type, Name: asset.name };
      return draft("CreateAsset", provider, { ...about, ...project(provider, asset.projectName) }, now);
    },
    getAsset: (provider, asset, now) => draft("GetAsset", provider, named(provider, asset), now),
    deleteAsset: (provider, asset, now) => draft("DeleteAsset", provider, named(provider, asset), now),
    readId: (answer) => {
      const id = textOf(resultOf(answer)["Id"]);
      if (id === null || id === "" || id.length > bounds.upstreamIdCharactersMax) throw noLibraryAnswer();
      return id;
    },
    readAsset: (answer) => assetOf(resultOf(answer)),
    classify: (answer) => {
      const code = errorCode(refusalObject(answer.body));
      return { gone: isGone(code), failure: failureOf(answer, code), code };
    },
  };
}

/** What an account lacks to use its library, in one sentence; null when it has its keys. */
function libraryLack(provider: Provider): string | null {
  for (const name of ["access_key_id", "secret_access_key"]) {
    if (settingText(provider, name) === null) return `settings.${name} is needed for the asset library`;
  }
  return null;
}

/** What is wrong with the settings of an account that may have a library; null when nothing is. */
export function libraryProblem(provider: Provider): string | null {
  const id = settingText(provider, "access_key_id");
  const key = settingText(provider, "secret_access_key");
  if ((id === null) !== (key === null)) {
    return "settings.access_key_id and settings.secret_access_key go together";
  }
  const url = provider.settings["openapi_url"];
  if (url === undefined) return null;
  return typeof url === "string" && /^https?:\/\/[^/?#\s]+\/?$/.test(url)
    ? null
    : "settings.openapi_url must be an address such as https://open.volcengineapi.com/";
}

function signedDraft(
  place: Place,
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
  return {
    provider,
    upstreamModel: "",
    stream: false,
    method: "POST",
    url,
    headers: { "content-type": "application/json", accept: "application/json", ...headers, ...signature },
    body,
  };
}

/** The project of the row, else of the account; the vendor's own default is `default`. */
function project(provider: Provider, name: string): { ProjectName?: string } {
  const chosen = name === "" ? settingText(provider, "project_name") : name;
  return chosen === null ? {} : { ProjectName: chosen };
}

function named(
  provider: Provider,
  { upstreamId, projectName }: { readonly upstreamId: string; readonly projectName: string },
): JsonObject {
  return { Id: upstreamId, ...project(provider, projectName) };
}

/** The envelope's result. Throws Failure upstream_error when it is none, or holds a refusal. */
function resultOf(answer: GoodAnswer): JsonObject {
  const envelope = refusalObject(answer.body);
  const code = errorCode(envelope);
  if (code !== null) throw failureOf({ status: 400, headers: answer.headers, body: answer.body, now: 0 }, code);
  const result = envelope["Result"];
  if (!isObject(result)) throw noLibraryAnswer();
  return result;
}

/** A status other than the three known is still under way: `Inactive`, which a few pages show, is U. */
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

/** NotFound.group_id was seen live; NotFound.ProjectName is about something that was not asked for. */
function isGone(code: string | null): boolean {
  return code !== null && /^NotFound(\.|$)/.test(code) && !/project/i.test(code);
}

function failureOf(answer: Parameters<typeof classifyByStatus>[0], code: string | null): Failure {
  const refused = code !== null && accountCodes.has(code);
  return classifyByStatus(answer, { account: refused ? "credential" : null });
}

function noLibraryAnswer(): Failure {
  return new Failure("upstream_error", "The asset library's answer is none.", { retry: "same" });
}

/** Codes of the key and of what its plan allows; the list of those about signatures is U. */
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

interface VolcengineKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly service: string;
}

interface SignableRequest {
  readonly method: string;
  readonly url: string;
  /** What is signed beside the host, the date and the body's digest; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * The headers that sign a request to Volcengine's or BytePlus' control plane: HMAC-SHA256 as in `base/sign.go` of the
 * vendor's Go SDK. The server verifies exactly the headers that the signature names. `now` is Unix milliseconds.
 */
export function volcengineSignature(
  { method, url, headers, body }: SignableRequest,
  keys: VolcengineKeys,
  now: number,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url);
  const at = new Date(now).toISOString().replace(/\.\d+|[:-]/g, "");
  const digest = sha256(body);
  const told = { "x-content-sha256": digest, "x-date": at };
  const signed = Object.entries({ ...headers, ...told, host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join("");
  const canonical = [method, pathname, canonicalQuery(searchParams), lines, names, digest].join("\n");
  const day = at.slice(0, 8);
  const scope = `${day}/${keys.region}/${keys.service}/request`;
  const text = ["HMAC-SHA256", at, scope, sha256(canonical)].join("\n");
  const key = [day, keys.region, keys.service, "request"].reduce<string | Buffer>(hmac, keys.secretAccessKey);
  const signature = hmac(key, text).toString("hex");
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  return { ...told, authorization: `HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}` };
}

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]): [string, string] => [percent(name), percent(value)])
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** RFC 3986: what encodeURIComponent leaves of the reserved characters is encoded too. */
function percent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** By code units, as every server sorts; equal names by value. */
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
