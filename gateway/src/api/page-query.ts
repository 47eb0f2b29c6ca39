import { bounds, Failure } from "#core/index.ts";

/** Which part of a list is asked for: `limit` (1 to bounds.listPageMax, 20 by default) and `after`, as a page before gave it. */
export interface PageQuery {
  readonly limit: number;
  readonly after: string | null;
}

export function readPageQuery(query: URLSearchParams): PageQuery {
  const text = query.get("limit");
  const limit = text === null ? pageDefault : Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > bounds.listPageMax) {
    throw new Failure("invalid_request", `limit must be a whole number from 1 to ${bounds.listPageMax}.`, {
      param: "limit",
    });
  }
  return { limit, after: query.get("after") };
}

/** A page in the shape that OpenAI's SDKs can walk: the next one is asked for with `after`. */
export function pageAnswer(data: readonly object[], next: string | null): object {
  return { object: "list", data, has_more: next !== null, next };
}

const pageDefault = 20;
