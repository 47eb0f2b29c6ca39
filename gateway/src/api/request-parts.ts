import { bounds, Failure, type FailureCode } from "#core/index.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

/** What a request asks for. `plain-target.ts` refuses what could mean two things. */
export interface Target {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

/** Of an absolute URL, as the server gives it, or of what follows the host in one. */
export function targetOf(url: string): Target {
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", 8);
  const queryStart = url.indexOf("?", pathStart);
  if (queryStart === -1) return { path: url.slice(pathStart), query: "" };
  return { path: url.slice(pathStart, queryStart), query: url.slice(queryStart + 1) };
}

/** Where callers reach this gateway: as configured, else as this one has. Without a slash at its end. */
export function originOf(dependencies: ApiDependencies, { request }: Exchange): string {
  const configured = dependencies.publicUrl();
  if (configured !== null) return configured;
  const url = request.url;
  return url.slice(0, url.indexOf("/", 8));
}

/** What stands in a path behind this prefix, up to the next slash. */
export function idBehind(prefix: string, { path }: Pick<Exchange, "path">): string {
  return path.slice(prefix.length).split("/", 1)[0] ?? "";
}

/** Ids are ours: anything else looks like one that does not exist. */
export function requireId(id: string, prefix: string, code: FailureCode): string {
  if (new RegExp(`^${prefix}[0-9A-Za-z]{1,64}$`).test(id)) return id;
  throw new Failure(code, `There is no such thing as "${id.slice(0, 64).replace(/[^\x21-\x7e]/g, "?")}".`, {
    param: "id",
  });
}

/**
 * Asks a store for the page that a query names: `limit` (1 to bounds.listPageMax, 20 by default) and `after`, as a page
 * before gave it. Throws Failure invalid_request in the words that the caller used.
 */
export async function askPage<Page>(
  query: URLSearchParams,
  ask: (after: string | null, limit: number) => Promise<Page>,
): Promise<Page> {
  const limit = readLimit(query.get("limit"));
  try {
    return await ask(query.get("after"), limit);
  } catch (thrown) {
    // The stores' own word for it.
    if (!(thrown instanceof Failure) || thrown.param !== "cursor") throw thrown;
    throw new Failure(thrown.code, "The place in `after` is not one that this list gave out.", { param: "after" });
  }
}

/** A page in the shape that OpenAI's SDKs can walk: the next one is asked for with `after`. */
export function pageAnswer(data: readonly object[], next: string | null): object {
  return { object: "list", data, has_more: next !== null, next };
}

const pageDefault = 20;

function readLimit(text: string | null): number {
  const limit = text === null ? pageDefault : Number(text);
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= bounds.listPageMax) return limit;
  throw new Failure("invalid_request", `limit must be a whole number from 1 to ${bounds.listPageMax}.`, {
    param: "limit",
  });
}
