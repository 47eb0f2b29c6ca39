import type { SearchRequest, Turn } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import { arrayOf, countOf, isObject, type JsonObject, textOf } from "../json/value.ts";
import {
  approximate,
  plainSearch,
  readLocation,
  textsOf,
  warnOfNoSearch,
  warnOfSearchRest,
} from "../turn/search-request.ts";
import { warnOfUnasked } from "../turn/warnings.ts";

export function isWebSearch(type: unknown): boolean {
  return (textOf(type) ?? "").startsWith("web_search_");
}

/** The search among a request's tools; null when there is none. */
export function readWebSearch(tools: unknown, warn: Warn): SearchRequest | null {
  const tool = arrayOf(tools).find((one) => isObject(one) && isWebSearch(one["type"]));
  if (!isObject(tool)) return null;
  warnOfUnasked(tool, ofTool, "the tool web_search", warn);
  return {
    ...plainSearch,
    usesMax: countOf(tool["max_uses"]),
    allowedDomains: textsOf(tool["allowed_domains"]),
    blockedDomains: textsOf(tool["blocked_domains"]),
    location: readLocation(tool["user_location"], "the tool web_search", warn),
  };
}

const ofTool: ReadonlySet<string> = new Set([
  ...["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"],
]);

/** The oldest version, which every model that searches takes. Source: Anthropic's docs, "Web search tool". */
const searchType = "web_search_20250305";
const searchName = "web_search";

export function writeWebSearch(turn: Turn, traits: DialectTraits, warn: Warn): JsonObject[] {
  const { search } = turn;
  if (search === undefined) return [];
  if (traits.noWebSearch === true) {
    warnOfNoSearch(turn, warn);
    return [];
  }
  if (turn.tools.some((tool) => tool.name === searchName)) {
    warn("web_search was left out: a tool of the caller has its name");
    return [];
  }
  const allowed = search.allowedDomains.length > 0;
  // The two lists exclude each other.
  warnOfSearchRest(search, allowed ? carriedAllowing : carriedBlocking, warn);
  return [
    {
      type: searchType,
      name: searchName,
      ...(search.usesMax === null ? {} : { max_uses: search.usesMax }),
      ...(allowed ? { allowed_domains: search.allowedDomains } : {}),
      ...(!allowed && search.blockedDomains.length > 0 ? { blocked_domains: search.blockedDomains } : {}),
      ...(search.location === null ? {} : { user_location: approximate(search.location) }),
    },
  ];
}

const carriedAllowing: ReadonlySet<keyof SearchRequest> = new Set(["usesMax", "allowedDomains", "location"]);
const carriedBlocking: ReadonlySet<keyof SearchRequest> = new Set(["usesMax", "blockedDomains", "location"]);
