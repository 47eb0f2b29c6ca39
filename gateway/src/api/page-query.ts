import { bounds, Failure } from "#core/index.ts";

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
