import type { SearchRequest, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import {
  approximate,
  plainSearch,
  readContextSize,
  readLocation,
  textsOf,
  warnOfSearchRest,
} from "../turn/search-request.ts";
import { warnOfUnasked } from "../turn/warnings.ts";

/** `web_search`, `web_search_2025_08_26`, and the previews before them. */
export function isWebSearch(type: unknown): boolean {
  return /^web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d)?$/.test(textOf(type) ?? "");
}

/** The search among a request's tools; null when there is none. */
export function readWebSearch(tools: unknown, warn: Warn): SearchRequest | null {
  const tool = arrayOf(tools).find((one) => isObject(one) && isWebSearch(one["type"]));
  if (!isObject(tool)) return null;
  warnOfUnasked(tool, ofTool, "the tool web_search", warn);
  if (tool["external_web_access"] === false) {
    warn("external_web_access of the tool web_search is not understood by the upstream and was left out");
  }
  const filters = objectOf(tool["filters"]);
  warnOfUnasked(filters, ofFilters, "the tool web_search", warn);
  return {
    ...plainSearch,
    allowedDomains: textsOf(filters["allowed_domains"]),
    blockedDomains: textsOf(filters["blocked_domains"]),
    location: readLocation(tool["user_location"], "the tool web_search", warn),
    contextSize: readContextSize(tool["search_context_size"]),
  };
}

const ofTool: ReadonlySet<string> = new Set([
  ...["type", "filters", "user_location", "search_context_size"],
  "external_web_access",
]);
const ofFilters: ReadonlySet<string> = new Set(["allowed_domains", "blocked_domains"]);

/** The tool, and the cap on calls of the upstream's own tools, of which it is the only one. */
export function writeWebSearch(
  { search }: Turn,
  warn: Warn,
): { readonly tool: JsonObject; readonly callsMax: number | null } | null {
  if (search === undefined) return null;
  warnOfSearchRest(search, carried, warn);
  const tool = {
    type: "web_search",
    ...(search.allowedDomains.length === 0 ? {} : { filters: { allowed_domains: search.allowedDomains } }),
    ...(search.location === null ? {} : { user_location: approximate(search.location) }),
    ...(search.contextSize === null ? {} : { search_context_size: search.contextSize }),
  };
  return { tool, callsMax: search.usesMax };
}

const carried: ReadonlySet<keyof SearchRequest> = new Set(["usesMax", "allowedDomains", "location", "contextSize"]);
