import { modelEndpoints } from "@sluice/contract/words";
import { bounds, Failure, type FailureCode } from "#core/index.ts";
import type { Exchange } from "./dependencies.ts";

/** The target of a request. `plain-target.ts` refuses ambiguous ones. */
export interface Target {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

/** `url`: an absolute URL, or the part of one after its host. */
export function targetOf(url: string): Target {
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", 8);
  const queryStart = url.indexOf("?", pathStart);
  if (queryStart === -1) return { path: versioned(url.slice(pathStart)), query: "" };
  return { path: versioned(url.slice(pathStart, queryStart)), query: url.slice(queryStart + 1) };
}

/** Other gateways serve OpenAI's paths without `/v1` too, so callers may have a base URL without it. */
function versioned(path: string): string {
  return unversioned.has(path) ? `/v1${path}` : path;
}

const unversioned: ReadonlySet<string> = new Set([
  "/models",
  ...Object.values(modelEndpoints)
    .filter(({ path }) => /^\/v1\/(?!messages)[^{]+$/.test(path))
    .map(({ path }) => path.slice("/v1".length)),
]);

/** The gateway's address for callers: as configured, else as this caller used it. Without a trailing slash. */
export function originOf({ dependencies, request: { url } }: Exchange): string {
  return dependencies.publicUrl() ?? url.slice(0, url.indexOf("/", 8));
}

/** The part of a path after this prefix, up to the next slash. */
export function idBehind(prefix: string, { path }: Pick<Exchange, "path">): string {
  return path.slice(prefix.length).split("/", 1)[0] ?? "";
}

/** An id in our format. Any other text fails as an id that does not exist. */
export function requireId(id: string, prefix: string, code: FailureCode): string {
  if (new RegExp(`^${prefix}[0-9A-Za-z]{1,64}$`).test(id)) return id;
  throw new Failure(code, `"${id.slice(0, 64).replace(/[^\x21-\x7e]/g, "?")}" not found.`, {
    param: "id",
  });
}

/**
 * Reads the page that a query names: `limit` (1 to bounds.listPageMax, 20 by default) and `after`, from the page before. Throws Failure
 * invalid_request.
 */
export async function readPage<Page>(
  query: URLSearchParams,
  read: (after: string | null, limit: number) => Promise<Page>,
): Promise<Page> {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > bounds.listPageMax) {
    throw new Failure("invalid_request", `limit must be an integer from 1 to ${bounds.listPageMax}.`, {
      param: "limit",
    });
  }
  try {
    return await read(query.get("after"), limit);
  } catch (thrown) {
    // Stores call it a cursor.
    if (!(thrown instanceof Failure) || thrown.param !== "cursor") throw thrown;
    throw new Failure(thrown.code, "`after` is not a position of this list.", { param: "after" });
  }
}

/** A page that OpenAI's SDKs can iterate: `after` of the next request is `next`. */
export function pageAnswer(data: readonly object[], next: string | null): object {
  return { object: "list", data, has_more: next !== null, next };
}
