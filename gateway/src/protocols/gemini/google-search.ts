import type { SearchRequest, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { plainSearch, textsOf, warnOfSearchRest } from "../turn/search-request.ts";
import { warnOfUnasked } from "../turn/warnings.ts";
import { camelKeys } from "./camel-keys.ts";

/** The names of Google's search among the members of a tool, the one before 2.0 too. */
export const searchNames: ReadonlySet<string> = new Set(["googleSearch", "googleSearchRetrieval"]);

export function readSearch(value: unknown, warn: Warn): SearchRequest {
  const search = camelKeys(value);
  warnOfUnasked(search, ofSearch, "the tool googleSearch", warn);
  return { ...plainSearch, blockedDomains: textsOf(search["excludeDomains"]) };
}

const ofSearch: ReadonlySet<string> = new Set(["excludeDomains"]);

/**
 * Google's search as a tool. Beside functions it is refused, or wants parts back that no other dialect has a place for: it is
 * left out then. Source: Gemini API docs, "Grounding with Google Search", "Combine built-in tools and function calling".
 */
export function writeSearch({ search, tools }: Turn, warn: Warn): JsonObject[] {
  if (search === undefined) return [];
  if (tools.length > 0) {
    warn("web_search was left out: the upstream does not search beside functions");
    return [];
  }
  warnOfSearchRest(search, none, warn);
  return [{ googleSearch: {} }];
}

const none: ReadonlySet<keyof SearchRequest> = new Set();
