import { bounds, Failure } from "#core/index.ts";
import type { ScimPage } from "#directory/index.ts";
import { readFilter } from "./scim-filter.ts";
import { invalid } from "./scim-problem.ts";
import { enterpriseSchemaId, groupSchemaId, isObject, type JsonObject, userSchemaId } from "./scim-schema.ts";

/** The most distinct names in one body, and the size (characters) from which they are counted. */
const scimNamesMax = 1_000;
const scimNamesFreeCharacters = 64 * 1024;

/** The attributes that an answer includes (RFC 7644, 3.9). Names are lower case, without the schema. */
interface Projection {
  readonly only: ReadonlySet<string> | null;
  readonly without: ReadonlySet<string>;
}

interface ListQuery extends ScimPage {
  readonly startIndex: number;
}

export function readListQuery(query: URLSearchParams): ListQuery {
  const filter = query.get("filter");
  const startIndex = Math.max(1, wholeNumber(query, "startIndex") ?? 1);
  const count = Math.max(0, wholeNumber(query, "count") ?? bounds.scimPageUsual);
  return {
    filter: filter === null || filter.trim() === "" ? null : readFilter(filter),
    startIndex,
    offset: startIndex - 1,
    limit: Math.min(count, bounds.scimPageMax),
  };
}

export function readProjection(query: URLSearchParams): Projection {
  const only = namesIn(query.get("attributes"));
  return { only: only.size === 0 ? null : only, without: namesIn(query.get("excludedAttributes")) };
}

/** Whether an answer includes an attribute. Data that only this attribute needs is not read otherwise. */
export function isShown({ only, without }: Projection, name: string): boolean {
  const wanted = name.toLowerCase();
  if (only === null) return !without.has(wanted);
  return [...only].some((each) => each === wanted || each.startsWith(`${wanted}.`));
}

/** id and schemas are always included. */
export function projected(resource: JsonObject, projection: Projection): JsonObject {
  const { only, without } = projection;
  if (only === null && without.size === 0) return resource;
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(resource)) {
    const key = name.toLowerCase();
    if (
      key === "id" ||
      key === "schemas" ||
      (only !== null ? only.has(key) : !without.has(key) && !hasPart(without, key))
    ) {
      shown[name] = value;
    } else if (only !== null ? hasPart(only, key) : !without.has(key)) {
      shown[name] = parts(value, (part) => (only ?? without).has(`${key}.${part}`) === (only !== null));
    }
  }
  return shown;
}

function hasPart(names: ReadonlySet<string>, key: string): boolean {
  return [...names].some((name) => name.startsWith(`${key}.`));
}

function parts(value: unknown, keep: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => parts(each, keep));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => keep(name.toLowerCase())));
}

function namesIn(text: string | null): ReadonlySet<string> {
  if (text === null) return new Set();
  const names = text.split(",", bounds.scimAttributesMax + 1);
  if (names.length > bounds.scimAttributesMax) {
    throw invalid("invalidValue", `At most ${bounds.scimAttributesMax} attributes can be named.`);
  }
  return new Set(names.map(plainName).filter((name) => name !== ""));
}

function plainName(name: string): string {
  const lower = name.trim().toLowerCase();
  for (const schema of [userSchemaId, groupSchemaId]) {
    if (lower.startsWith(`${schema.toLowerCase()}:`)) return lower.slice(schema.length + 1);
  }
  const extension = enterpriseSchemaId.toLowerCase();
  return lower.startsWith(`${extension}:`) ? `${extension}.${lower.slice(extension.length + 1)}` : lower;
}

function wholeNumber(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === "") return null;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw invalid("invalidValue", `${name} must be an integer.`);
}

/**
 * Throws request_too_large for a large body with more distinct names than any directory sends. A hundred thousand distinct names would
 * block the event loop for too long in the parser; a few names that repeat, as in a group's members, do not.
 */
export function refuseManyNames(text: string): void {
  if (text.length <= scimNamesFreeCharacters) return;
  const names = new Set<string>();
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfText(text, at + 1);
    if (end === -1) return;
    const next = behindSpace(text, end + 1);
    // A string followed by a colon is a name.
    if (text.charCodeAt(next) === 0x3a && names.add(text.slice(at + 1, end)).size > scimNamesMax) {
      throw new Failure("request_too_large", `A body can have at most ${scimNamesMax} different attribute names.`);
    }
    at = next;
  }
}

/** Index of the quotation mark that closes a string; -1: there is none. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = end;
    while (slashes > start && text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    if ((end - slashes) % 2 === 0) return end;
  }
  return -1;
}

function behindSpace(text: string, start: number): number {
  let at = start;
  // JSON's four white space characters, and other control characters, which the parser refuses.
  while (text.charCodeAt(at) <= 0x20) at++;
  return at;
}
