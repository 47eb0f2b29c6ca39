import type { SearchRequest, Turn } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { approximate, warnOfNoSearch, warnOfSearchRest } from "../search-request.ts";

/**
 * Whether `web_search_options` are taken there: by OpenAI's models made for searching (gpt-4o-search-preview, gpt-5-search-api),
 * which alone know them, and by vendors whose lane says so. Others refuse the field.
 */
export function searchesByOptions(upstreamModel: string, traits: DialectTraits): boolean {
  return traits.searchOptions ?? /search/i.test(upstreamModel);
}

export function writeSearch(turn: Turn, searches: boolean, warn: Warn): JsonObject {
  const { search } = turn;
  if (search === undefined) return {};
  if (!searches) {
    warnOfNoSearch(turn, warn);
    return {};
  }
  warnOfSearchRest(search, carried, warn);
  return {
    web_search_options: {
      ...(search.contextSize === null ? {} : { search_context_size: search.contextSize }),
      ...(search.location === null
        ? {}
        : { user_location: { type: "approximate", approximate: withoutType(approximate(search.location)) } }),
    },
  };
}

const carried: ReadonlySet<keyof SearchRequest> = new Set(["location", "contextSize"]);

/** Here the type stands beside the place. */
function withoutType({ type: _type, ...place }: JsonObject): JsonObject {
  return place;
}
