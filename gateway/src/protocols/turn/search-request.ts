import type { SearchLocation, SearchRequest } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, textOf } from "../json/value.ts";
import { notSupported, warnOfUnsentMembers } from "./warnings.ts";

export const defaultSearch: SearchRequest = Object.freeze({
  usesMax: null,
  allowedDomains: [],
  blockedDomains: [],
  location: null,
  contextSize: null,
});

/** `{"type":"approximate","city",…}`, equal at OpenAI and Anthropic. */
export function readLocation(value: unknown, where: string, warn: Warn): SearchLocation | null {
  if (!isObject(value)) return null;
  warnOfUnsentMembers(value, locationMembers, where, warn);
  const location: Record<string, string> = {};
  for (const name of ["city", "region", "country", "timezone"]) {
    const text = textOf(value[name]) ?? "";
    if (text !== "") location[name] = text;
  }
  return Object.keys(location).length === 0 ? null : location;
}

export function readContextSize(value: unknown): SearchRequest["contextSize"] {
  return value === "low" || value === "medium" || value === "high" ? value : null;
}

export function stringsIn(value: unknown): readonly string[] {
  return arrayOf(value).filter((one) => typeof one === "string");
}

/** Warns of search parameters that the target does not support. */
export function warnOfSearchParameters(
  search: SearchRequest,
  carried: ReadonlySet<keyof SearchRequest>,
  warn: Warn,
): void {
  for (const [name, words] of Object.entries(parameters) as [keyof SearchRequest, string][]) {
    const value = search[name];
    const isPlain = value === null || value === "medium" || (Array.isArray(value) && value.length === 0);
    if (!isPlain && !carried.has(name)) warn(notSupported(`${words} of the web search`));
  }
}

const parameters: Readonly<Record<keyof SearchRequest, string>> = {
  usesMax: "the number of uses",
  allowedDomains: "the list of allowed domains",
  blockedDomains: "the list of blocked domains",
  location: "the user's location",
  contextSize: "the context size",
};

export function writeLocation(location: SearchLocation): JsonObject {
  return { type: "approximate", ...location };
}

const locationMembers: ReadonlySet<string> = new Set(["type", "city", "region", "country", "timezone"]);
