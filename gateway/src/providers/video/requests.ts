import { Failure, type Provider, type VideoTurn } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { type OutboundDraft, outboundDraft } from "../outbound-draft.ts";
import type { CreateInput } from "../video-adapter.ts";

interface VideoRequest {
  /** Default: POST with a body, else GET. */
  readonly method?: OutboundDraft["method"];
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
}

export function videoDraft(provider: Provider, url: string, request: VideoRequest = {}): OutboundDraft {
  const { json, method = json === undefined ? "GET" : "POST", headers } = request;
  const typed = json === undefined ? {} : { "content-type": "application/json" };
  return outboundDraft(provider, url, {
    method,
    headers: { accept: "application/json", ...typed, ...headers },
    body: json === undefined ? null : encoder.encode(JSON.stringify(json)),
  });
}

/** A request to create a task: our fields override the caller's vendor fields. */
export function createTaskDraft({ provider, turn }: CreateInput, url: string, members: JsonObject): OutboundDraft {
  return videoDraft(provider, url, { json: { ...turn.vendorFields, ...present(members) } });
}

/** Drafts for one task at `path` below the root, followed by its id and a suffix. */
export function taskDrafts(rootOf: RootOf, path: string) {
  return (suffix = "", request: VideoRequest = {}) =>
    (provider: Provider, _upstreamModel: string, upstreamId: string): OutboundDraft =>
      videoDraft(provider, `${rootOf(provider)}${path}/${encodeURIComponent(upstreamId)}${suffix}`, request);
}

const encoder = new TextEncoder();

/** The root of a vendor's paths, without a trailing slash. */
export type RootOf = (provider: Provider) => string;

export const plainRoot: RootOf = ({ baseUrl }) => baseUrl.replace(/\/+$/, "");

/** The host only, for vendors with a video API outside the chat path of the base URL. */
export const hostRoot: RootOf = ({ baseUrl }) => /^[a-z]+:\/\/[^/]+/.exec(baseUrl)?.[0] ?? baseUrl;

/** Removes null and undefined, which must not overwrite the caller's own fields. */
export function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}

/** The caller's vendor fields for a nested object: fields inside `name`, and top-level ones that `isNested` accepts. */
export function membersFor(
  vendorFields: Readonly<JsonObject>,
  name: string,
  isNested: (member: string) => boolean,
): JsonObject {
  const inside = vendorFields[name];
  const loose = Object.entries(vendorFields).filter(([member]) => member !== name && isNested(member));
  return { ...Object.fromEntries(loose), ...(isObject(inside) ? inside : {}) };
}

/** Another upstream may support it. */
export function unsupported(param: string, message: string): Failure {
  return new Failure("unsupported_by_model", message, { param, retry: "other" });
}

/** undefined for no seed and for a negative one, which means random. */
export function seedOf({ seed }: VideoTurn): number | undefined {
  return seed === null || seed < 0 ? undefined : seed;
}

export function refuseSeed(turn: VideoTurn): void {
  if (seedOf(turn) !== undefined) {
    throw unsupported(
      "seed",
      "This model does not support `seed`. Omit it, or use a negative number for a random seed.",
    );
  }
}

export function refuseSound({ audio }: VideoTurn): void {
  if (audio === true) throw unsupported("audio", "This model makes silent videos.");
}

export function refuseSilence({ audio }: VideoTurn): void {
  if (audio === false) throw unsupported("audio", "This model's videos always have sound.");
}

export function refuseWatermark({ watermark }: VideoTurn): void {
  if (watermark === true) throw unsupported("watermark", "This model puts no visible watermark on its videos.");
}

/** For models that take the shape from the picture. */
export function refuseRatio({ ratio }: VideoTurn): void {
  if (ratio === null || ratio === "adaptive") return;
  throw unsupported("ratio", "This model takes the ratio from the picture. Omit `ratio`.");
}
