import { Failure, type Provider, type VideoTurn } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { type OutboundDraft, outboundDraft } from "../outbound-draft.ts";

interface VideoRequest {
  /** Default: POST with a body, else GET. */
  readonly method?: OutboundDraft["method"];
  readonly headers?: Readonly<Record<string, string>>;
  /** Members that are undefined stay out. */
  readonly json?: object;
}

/** A request about a video, before its credential is put on it. */
export function videoDraft(provider: Provider, url: string, request: VideoRequest = {}): OutboundDraft {
  const { json, method = json === undefined ? "GET" : "POST", headers } = request;
  const typed = json === undefined ? {} : { "content-type": "application/json" };
  return outboundDraft(provider, url, {
    method,
    headers: { accept: "application/json", ...typed, ...headers },
    body: json === undefined ? null : encoder.encode(JSON.stringify(json)),
  });
}

/** Drafts for one task at `path` below the root, followed by its id and a suffix. */
export function taskDrafts(rootOf: RootOf, path: string) {
  return (suffix = "", request: VideoRequest = {}) =>
    (provider: Provider, _upstreamModel: string, upstreamId: string): OutboundDraft =>
      videoDraft(provider, `${rootOf(provider)}${path}/${encodeURIComponent(upstreamId)}${suffix}`, request);
}

const encoder = new TextEncoder();

/** What an account's paths stand below, without a slash at its end. */
export type RootOf = (provider: Provider) => string;

export const plainRoot: RootOf = ({ baseUrl }) => baseUrl.replace(/\/+$/, "");

/** The host alone, for vendors whose video API stands beside the path that operators write for their chat. */
export const hostRoot: RootOf = ({ baseUrl }) => /^[a-z]+:\/\/[^/]+/.exec(baseUrl)?.[0] ?? baseUrl;

/** The members that say something: those that are null or undefined must not take the place of a caller's own. */
export function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}

/**
 * A caller's own members for a vendor whose options stand inside an object of the body: what the caller has put into
 * an object of that name stays there, and what it wrote beside it goes in too.
 */
export function membersFor(more: Readonly<JsonObject>, name: string, beside: (member: string) => boolean): JsonObject {
  const inside = more[name];
  const loose = Object.entries(more).filter(([member]) => member !== name && beside(member));
  return { ...Object.fromEntries(loose), ...(isObject(inside) ? inside : {}) };
}

/** What this upstream cannot do as it was asked; another one may. */
export function unsupported(param: string, message: string): Failure {
  return new Failure("unsupported_by_model", message, { param, retry: "other" });
}

/** A seed that can be sent; undefined for none and for a negative one, which asks for chance and gets it unasked. */
export function seedOf({ seed }: VideoTurn): number | undefined {
  return seed === null || seed < 0 ? undefined : seed;
}

export function refuseSeed(turn: VideoTurn): void {
  if (seedOf(turn) !== undefined) {
    throw unsupported("seed", "This model takes no `seed`: leave it out, or let it be negative for a random one.");
  }
}

export function refuseSound({ audio }: VideoTurn): void {
  if (audio === true) throw unsupported("audio", "This model makes silent videos.");
}

/** For models whose videos always have sound. */
export function refuseSilence({ audio }: VideoTurn): void {
  if (audio === false) throw unsupported("audio", "This model's videos always have sound.");
}

export function refuseWatermark({ watermark }: VideoTurn): void {
  if (watermark === true) throw unsupported("watermark", "This model puts no visible watermark on its videos.");
}

/** For models whose picture decides the shape of the video. */
export function refuseRatio({ ratio }: VideoTurn): void {
  if (ratio === null || ratio === "adaptive") return;
  throw unsupported("ratio", "This model takes the shape of its video from the picture: leave `ratio` out.");
}
