import { bounds } from "#core/index.ts";
import type { ScimComparison, ScimFilter } from "#directory/index.ts";
import { invalid, type ScimType } from "./scim-problem.ts";
import { enterpriseSchemaId, groupSchemaId, memberOf, userSchemaId } from "./scim-schema.ts";

/** Path of a PATCH operation (RFC 7644, 3.5.2): attribute, value filter and sub-attribute, in the spelling of the request. */
export interface ScimPath {
  /** Schema of the extension; null: the resource's own attributes. */
  readonly schema: string | null;
  /** "": the whole extension. */
  readonly attribute: string;
  readonly filter: ScimFilter | null;
  readonly part: string | null;
}

const wordPattern = /[A-Za-z]*/y;
const schemaIds = [userSchemaId, groupSchemaId, enterpriseSchemaId];

/** Throws invalidFilter. Read from left to right, each character once. */
export function readFilter(text: string): ScimFilter {
  const reader = new FilterReader(text, "invalidFilter");
  const filter = reader.either();
  reader.end();
  return filter;
}

/** Throws invalidPath. */
export function readPath(text: string): ScimPath {
  const reader = new FilterReader(text, "invalidPath");
  const path = reader.path();
  reader.end();
  return path;
}

/** Splits a name into its schema prefix and the attribute. */
function withoutSchema(name: string): { readonly schema: string | null; readonly rest: string } {
  const lower = name.toLowerCase();
  for (const schema of schemaIds) {
    const start = schema.toLowerCase();
    if (lower !== start && !lower.startsWith(`${start}:`)) continue;
    return { schema: schema === enterpriseSchemaId ? schema : null, rest: name.slice(start.length + 1) };
  }
  return { schema: lower.startsWith("urn:") ? name : null, rest: lower.startsWith("urn:") ? "" : name };
}

/** Whether a filter selects a value (`{"value": …, "type": …}`), ignoring case. */
export function matchesFilter(filter: ScimFilter, value: Readonly<Record<string, unknown>>): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.every((part) => matchesFilter(part, value));
    case "or":
      return filter.parts.some((part) => matchesFilter(part, value));
    case "not":
      return !matchesFilter(filter.part, value);
    case "some":
      return false;
    case "present":
      return memberOf(value, filter.path) !== undefined;
    case "compare":
      return compares(filter, memberOf(value, filter.path));
  }
}

function compares({ comparison, value }: Extract<ScimFilter, { kind: "compare" }>, held: unknown): boolean {
  // A missing `primary` counts as false.
  if (typeof value === "boolean") return (comparison === "ne") !== ((held ?? false) === value);
  return comparisons[comparison](String(held ?? "").toLowerCase(), String(value ?? "").toLowerCase());
}

const comparisons: Readonly<Record<ScimComparison, (one: string, other: string) => boolean>> = {
  eq: (one, other) => one === other,
  ne: (one, other) => one !== other,
  co: (one, other) => one.includes(other),
  sw: (one, other) => one.startsWith(other),
  ew: (one, other) => one.endsWith(other),
  gt: (one, other) => one > other,
  ge: (one, other) => one >= other,
  lt: (one, other) => one < other,
  le: (one, other) => one <= other,
};

class FilterReader {
  readonly #text: string;
  readonly #scimType: ScimType;
  #at = 0;
  #terms = 0;
  #depth = 0;

  constructor(text: string, scimType: ScimType) {
    this.#text = text;
    this.#scimType = scimType;
    if (text.length > bounds.scimFilterCharactersMax) {
      throw invalid(scimType, `This has at most ${bounds.scimFilterCharactersMax} characters.`);
    }
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#invalid("unexpected text at the end");
  }

  path(): ScimPath {
    const { schema, rest } = withoutSchema(this.#name());
    if (this.#text[this.#at] !== "[") {
      const [attribute = "", part, ...more] = rest.split(".");
      if (more.length > 0 || part === "") throw this.#invalid("a name can have only one sub-attribute");
      return { schema, attribute, filter: null, part: part ?? null };
    }
    if (rest === "" || rest.includes(".")) throw this.#invalid("a filter in brackets needs an attribute before it");
    const filter = this.#inside("]");
    let part: string | null = null;
    if (this.#text[this.#at] === ".") {
      this.#at++;
      part = this.#name();
    }
    return { schema, attribute: rest, filter, part };
  }

  either(): ScimFilter {
    return this.#joined("or", () => this.#joined("and", () => this.#term()));
  }

  #joined(kind: "and" | "or", next: () => ScimFilter): ScimFilter {
    const parts = [next()];
    while (this.#word(kind)) parts.push(next());
    return parts.length === 1 ? (parts[0] as ScimFilter) : { kind, parts };
  }

  #term(): ScimFilter {
    this.#space();
    if (this.#word("not")) {
      this.#space();
      if (this.#text[this.#at] !== "(") throw this.#invalid("`not` must be followed by parentheses");
      return { kind: "not", part: this.#inside(")") };
    }
    if (this.#text[this.#at] === "(") return this.#inside(")");
    if (++this.#terms > bounds.scimFilterTermsMax) {
      throw invalid(this.#scimType, `A filter has at most ${bounds.scimFilterTermsMax} comparisons.`);
    }
    const path = this.#comparedPath();
    if (this.#text[this.#at] === "[") return this.#values(path);
    return this.#compared(path);
  }

  /** `emails[type eq "work"]`, also with a comparison of a sub-attribute behind it. */
  #values(path: string): ScimFilter {
    const chosen = this.#inside("]");
    if (this.#text[this.#at] !== ".") return { kind: "some", path, filter: chosen };
    this.#at++;
    const part = this.#name().toLowerCase();
    return { kind: "some", path, filter: { kind: "and", parts: [chosen, this.#compared(part)] } };
  }

  #inside(close: string): ScimFilter {
    if (++this.#depth > bounds.scimFilterDepthMax) {
      throw invalid(this.#scimType, `A filter is at most ${bounds.scimFilterDepthMax} parentheses deep.`);
    }
    this.#at++;
    const filter = this.either();
    this.#space();
    if (this.#text[this.#at] !== close) throw this.#invalid(`\`${close}\` is missing`);
    this.#at++;
    this.#depth--;
    return filter;
  }

  #compared(path: string): ScimFilter {
    this.#space();
    const comparison = this.#take(wordPattern).toLowerCase();
    if (comparison === "pr") return { kind: "present", path };
    if (!Object.hasOwn(comparisons, comparison))
      throw this.#invalid("a comparison must be eq, ne, co, sw, ew, gt, ge, lt, le or pr");
    this.#space();
    return { kind: "compare", path, comparison: comparison as ScimComparison, value: this.#value() };
  }

  #comparedPath(): string {
    const { schema, rest } = withoutSchema(this.#name());
    return `${schema === null ? "" : `${schema.toLowerCase()}:`}${rest.toLowerCase()}`;
  }

  #name(): string {
    this.#space();
    const name = this.#take(/[A-Za-z0-9_$:.-]*/y);
    if (!/^[A-Za-z$]/.test(name)) throw this.#invalid("an attribute name is missing");
    return name;
  }

  /** Consumes the word if it is next, as a whole word. */
  #word(word: string): boolean {
    const before = this.#at;
    this.#space();
    if (this.#take(wordPattern).toLowerCase() === word && /[\s(]/.test(this.#text[this.#at] ?? "")) return true;
    this.#at = before;
    return false;
  }

  /** A JSON value other than an object or list. */
  #value(): string | number | boolean | null {
    const written = this.#take(/"(?:\\[\s\S]?|[^"\\])*"?|[A-Za-z0-9+.-]*/y);
    // Some directories write `True`.
    const json = written.startsWith('"') ? written : written.toLowerCase();
    try {
      return JSON.parse(json) as string | number | boolean | null;
    } catch {
      throw this.#invalid("a value must be a quoted string, a number, true, false or null");
    }
  }

  #space(): void {
    this.#take(/\s*/y);
  }

  /** Consumes what the sticky pattern matches here, possibly nothing. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }

  #invalid(problem: string) {
    return invalid(
      this.#scimType,
      `It cannot be read at character ${Math.min(this.#at, this.#text.length) + 1}: ${problem}.`,
    );
  }
}
