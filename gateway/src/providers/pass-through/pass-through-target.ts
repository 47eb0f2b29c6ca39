import { bounds, Failure, oncePerObject, type Provider } from "#core/index.ts";
import { withPassThroughQuery } from "../caller-query.ts";
import type { Lane } from "../kind.ts";
import { providerKind } from "../kinds.ts";
import { laneUrl, rootOf } from "../lanes.ts";
import { deniedBy, isVersion, plainPart } from "./denied-paths.ts";
import { passThroughOf } from "./pass-through-setting.ts";

export interface PassThroughTarget {
  readonly url: string;
  /** The path without ids: `/files/{id}/content`. */
  readonly pathClass: string;
  /** Decoded segments below the base URL. */
  readonly parts: readonly string[];
  /** The lane at this path; null: unknown. */
  readonly lane: LaneCalled | null;
  /** A resumable upload: the body is opaque bytes. */
  readonly isUpload: boolean;
}

interface LaneCalled {
  readonly lane: Lane;
  /** The upstream's model if the path names it. */
  readonly model: string | null;
  readonly streamPath: boolean;
}

/**
 * Resolves a pass-through path below the base URL. A version that both contain is used once: `/v1/files` and `/files` are
 * the same below `https://api.openai.com/v1`. `path` starts with a slash and is as the caller sent it. Throws Failure
 * invalid_request or forbidden.
 */
export function passThroughTarget(provider: Provider, path: string, query: string): PassThroughTarget {
  const callerParts = splitPath(path);
  const isUpload = callerParts[0] === "upload" && providerKind(provider.kind)?.uploadsBesideVersion === true;
  const root = isUpload ? withoutVersion(rootOf(provider)) : rootOf(provider);
  const parts = belowRoot(root, callerParts);
  const decodedParts = parts.map(decoded);
  const denied = deniedBy(decodedParts, passThroughOf(provider).deny);
  if (denied !== null) {
    const message = `Paths with "${denied}" administer the provider's account and are not passed through.`;
    throw new Failure("forbidden", message, { param: "path" });
  }
  const trailing = path.endsWith("/") && path !== "/" ? "/" : "";
  const bare = parts.length === 0 ? root : `${root}/${parts.join("/")}${trailing}`;
  const url = withPassThroughQuery(bare, query);
  if (url.length > bounds.urlBytesMax) throw wrong(`The URL would exceed ${bounds.urlBytesMax} bytes.`);
  return {
    url,
    pathClass: pathClassOf(parts),
    parts: decodedParts,
    lane: laneCalled(provider, [root, ...decodedParts.map(plainPart)].join("/"), query),
    isUpload,
  };
}

function withoutVersion(root: string): string {
  const at = root.lastIndexOf("/");
  return isVersion(root.slice(at + 1)) ? root.slice(0, at) : root;
}

function splitPath(path: string): readonly string[] {
  const inner = path.replace(/^\//, "").replace(/\/$/, "");
  if (inner === "") return [];
  const parts = inner.split("/");
  if (parts.length > bounds.pathPartsMax) throw wrong(`It has more than ${bounds.pathPartsMax} segments.`);
  for (const part of parts) checkPart(part);
  return parts;
}

/** Refuses segments that servers may read differently: dots, and encoded characters that end a segment. */
function checkPart(part: string): void {
  if (!sendable.test(part)) throw wrong("A segment is empty, not encoded, or has an invalid character.");
  const name = decoded(part);
  if (/%2[ef]|%5c|%25/i.test(part) || ambiguous.test(name)) {
    throw wrong("It has a percent-encoded slash, dot, percent sign, backslash or control character.");
  }
  if (/^\.{1,2}(;|$)/.test(name)) throw wrong("A segment consists of dots.");
}

/** RFC 3986, 3.3. */
const sendable = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ambiguous = /[\\/#?%\u0000-\u001f\u007f\ufffd]/;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong("A segment has invalid percent-encoding.");
  }
}

/** SDKs often repeat the version at the end of the base URL. */
function belowRoot(root: string, parts: readonly string[]): readonly string[] {
  const ends = root
    .slice(root.indexOf("/", root.indexOf("://") + 3))
    .split("/")
    .filter((part) => part !== "");
  if (!isVersion(ends.at(-1) ?? "")) return parts;
  for (let count = Math.min(ends.length, parts.length); count > 0; count--) {
    const same = ends.slice(-count).every((part, index) => part === parts[index]);
    if (same) return parts.slice(count);
  }
  return parts;
}

/** Keeps words of the API and verbs after a colon; anything else is an id. */
function pathClassOf(parts: readonly string[]): string {
  const shown = parts.slice(0, classPartsMax).map((part, index) => {
    const [, name = part, verb = ""] = named.exec(part) ?? [];
    const isWord =
      !containers.has(parts[index - 1] ?? "") && (word.test(name) || isVersion(name) || containers.has(name));
    return `${isWord ? name : "{id}"}${verb}`;
  });
  return `/${shown.join("/")}${parts.length > classPartsMax ? "/…" : ""}`;
}

const named = /^(.*?)(:[A-Za-z_]{1,40})$/;
const word = /^[a-z][a-z_-]{0,39}$/;
const classPartsMax = 8;

/** The next segment is an id, even in the form of a word. */
const containers: ReadonlySet<string> = new Set([
  "models",
  "model",
  "files",
  "deployments",
  "engines",
  "tunedModels",
  "cachedContents",
]);

/** Placeholder for the model in a lane's URL pattern. */
const modelMark = "MODELOFTHEPATH";

/** Case-insensitive, as some vendors are. */
const patternsOf = oncePerObject((provider: Provider) => {
  const lanes = providerKind(provider.kind)?.lanes ?? [];
  return lanes.flatMap((lane) =>
    [false, true].flatMap((streamPath) => {
      if (streamPath && lane.streamPath === undefined) return [];
      const [address = "", query = null] = laneUrl(provider, lane, modelMark, streamPath).split("?");
      const source = RegExp.escape(address).replace(modelMark, "([^/]+)");
      const pattern = new RegExp(`^${source}$`, "i");
      return [{ lane, pattern, streamPath, namesModel: address.includes(modelMark), query }];
    }),
  );
});

function laneCalled(provider: Provider, url: string, query: string): LaneCalled | null {
  for (const { lane, pattern, streamPath, namesModel, query: needed } of patternsOf(provider)) {
    const found = pattern.exec(url);
    if (found === null || (needed !== null && !query.split("&").includes(needed))) continue;
    const model = namesModel ? (found[1] ?? "") : null;
    if (model !== null && lane.fits?.(model) === false) continue;
    return { lane, model, streamPath };
  }
  return null;
}

function wrong(why: string): Failure {
  return new Failure("invalid_request", `The path cannot be forwarded. ${why}`, { param: "path" });
}
