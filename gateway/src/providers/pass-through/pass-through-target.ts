import { bounds, Failure, oncePerObject, type Provider } from "#core/index.ts";
import { withOwnQuery } from "../caller-query.ts";
import type { Lane } from "../kind.ts";
import { providerKind } from "../kinds.ts";
import { laneUrl, rootOf } from "../lanes.ts";
import { deniedBy, isVersion, plainPart } from "./denied-paths.ts";
import { passThroughOf } from "./pass-through-setting.ts";

/** What is called at a provider's own API. */
export interface PassThroughTarget {
  readonly url: string;
  /** What kind of path it is, without anything that a caller made up: `/files/{id}/content`. */
  readonly pathClass: string;
  /** Its decoded parts below the base URL. */
  readonly parts: readonly string[];
  /** What is known to be spoken there; null: nobody knows. */
  readonly lane: LaneCalled | null;
  /** A resumable upload, or a piece of one: its body is nothing but bytes, whatever its type says. */
  readonly isUpload: boolean;
}

interface LaneCalled {
  readonly lane: Lane;
  /** The upstream's name of the model, where the path says it. */
  readonly model: string | null;
  /** The path is that of the lane's streams. */
  readonly streamPath: boolean;
}

/**
 * Where a call goes that is passed through: `path` stands below the base URL and never anywhere else, whatever is in it; what
 * its end and the path's beginning have in common is said once, so that `/v1/files` and `/files` are the same below
 * `https://api.openai.com/v1`. `path` begins with a slash and is as its caller wrote it. Throws Failure invalid_request or forbidden.
 */
export function passThroughTarget(provider: Provider, path: string, query: string): PassThroughTarget {
  const parts = partsOf(path);
  const isUpload = parts[0] === "upload" && providerKind(provider.kind)?.uploadsBesideVersion === true;
  const root = isUpload ? withoutVersion(rootOf(provider)) : rootOf(provider);
  const below = belowRoot(root, parts);
  const decodedParts = below.map(decoded);
  const denied = deniedBy(decodedParts, passThroughOf(provider).deny);
  if (denied !== null) {
    throw new Failure(
      "forbidden",
      `Paths with "${denied}" administer the provider's account and are not passed through.`,
      {
        param: "path",
      },
    );
  }
  const trailing = path.endsWith("/") && path !== "/" ? "/" : "";
  const bare = below.length === 0 ? root : `${root}/${below.join("/")}${trailing}`;
  const url = withOwnQuery(bare, query);
  if (url.length > bounds.urlBytesMax) throw wrong(`It makes a URL of more than ${bounds.urlBytesMax} bytes.`);
  return {
    url,
    pathClass: pathClassOf(below),
    parts: decodedParts,
    lane: laneCalled(provider, [root, ...decodedParts.map(plainPart)].join("/"), query),
    isUpload,
  };
}

function withoutVersion(root: string): string {
  const at = root.lastIndexOf("/");
  return isVersion(root.slice(at + 1)) ? root.slice(0, at) : root;
}

function partsOf(path: string): readonly string[] {
  const inner = path.replace(/^\//, "").replace(/\/$/, "");
  if (inner === "") return [];
  const parts = inner.split("/");
  if (parts.length > bounds.pathPartsMax) throw wrong(`It has more than ${bounds.pathPartsMax} parts.`);
  for (const part of parts) checkPart(part);
  return parts;
}

/**
 * A part means the same to us and to whoever stands behind the base URL: no dots that lead elsewhere, in whichever spelling, and
 * nothing that one side would take for the end of the part.
 */
function checkPart(part: string): void {
  if (!sendable.test(part)) throw wrong("A part of it is empty, is not encoded, or holds what no path may hold.");
  const name = decoded(part);
  if (/%2[ef]|%5c|%25/i.test(part) || strange.test(name)) {
    throw wrong("A slash, a dot, a percent sign, a backslash or a control character is percent-encoded in it.");
  }
  if (/^\.{1,2}(;|$)/.test(name)) throw wrong("A part of it consists of dots.");
}

/** RFC 3986, 3.3: what a part of a path may hold as it is, and percent-encoded bytes. */
const sendable = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const strange = /[\\/#?%\u0000-\u001f\u007f\ufffd]/;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong("A part of it is not valid percent-encoding.");
  }
}

/** A base URL that ends in a version is often repeated by those who write the path whole, as every SDK does. */
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

/** Words of the API stay, and what Google asks of a thing behind a colon; what is neither is somebody's id. */
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

/** Behind these a name follows that may look like a word. */
const containers: ReadonlySet<string> = new Set([
  "models",
  "model",
  "files",
  "deployments",
  "engines",
  "tunedModels",
  "cachedContents",
]);

/** What stands for a model while a lane's address becomes a pattern. */
const modelMark = "MODELOFTHEPATH";

/** By provider object: a changed one is another. Vendors may take a path in other letters than it is written in. */
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
  return new Failure("invalid_request", `The path cannot be passed on. ${why}`, { param: "path" });
}
