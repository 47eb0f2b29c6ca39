import { guardrailBounds } from "@sluice/contract/words";
import type { Matcher, RE2JS, RE2Set } from "re2js";
import type { Detector, Finding, NamedPattern } from "#core/index.ts";
import { beginningsOf } from "./pattern-beginnings.ts";
import { releasable } from "./scan.ts";

/** Longer matches are not found in a stream: no more is held back. */
const streamedMatchMax = 16 * 1024;
/** A text with more is refused, because each match needs another search. */
const matchesMax = 10_000;

/** Returns the problem of an administrator's pattern, or null if it is valid. */
export function patternProblem(pattern: string): string | null {
  if (pattern === "") return "is empty";
  if (pattern.length > guardrailBounds.patternCharsMax)
    return `is longer than ${guardrailBounds.patternCharsMax} characters`;
  try {
    if (compile({ name: "", regex: pattern }).whole.test(""))
      return "matches an empty text, so it would match everywhere";
    return null;
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

/** Finds matches of patterns in RE2 syntax: in linear time, without look-around and backreferences. */
export function patternDetector(patterns: readonly NamedPattern[]): Detector {
  const compiled = patterns.map(compile);
  const anyWhole = setOf(compiled.map(({ regex }) => regex));
  const anyBeginning = setOf(compiled.map(({ beginnings }) => beginnings));
  const find = (text: string, from = 0): readonly Finding[] => {
    const found = anyWhole.match(text).map((index) => new Search(compiled[index], text));
    const findings: Finding[] = [];
    for (let at = from; ; ) {
      const next = found.map((search) => search.next(at)).reduce(earlier, null);
      if (next === null) return findings;
      findings.push(next);
      if (findings.length > matchesMax)
        throw new Error(`The text has more than ${matchesMax} matches of the patterns.`);
      at = next.end;
    }
  };
  return {
    find,
    pendingFrom: (text, from = 0) => {
      const start = Math.max(from, text.length - streamedMatchMax);
      const starts = anyBeginning.match(text).flatMap((index) => {
        const matcher = compiled[index]?.beginning.matcher(text);
        return matcher?.find(start) === true ? [matcher.start()] : [];
      });
      const pending = Math.min(text.length, ...starts);
      return releasable(text, pending, pending < text.length ? find(text, from) : []);
    },
  };
}

interface CompiledPattern {
  readonly name: string;
  readonly regex: string;
  readonly whole: RE2JS;
  readonly beginnings: string;
  readonly beginning: RE2JS;
}

/** Throws an error with a message for the administrator. */
function compile({ name, regex }: NamedPattern): CompiledPattern {
  const { RE2JS } = re2();
  try {
    const whole = RE2JS.compile(regex);
    const beginnings = `(?:${beginningsOf(regex) ?? "\\z"})\\z`;
    return { name, regex, whole, beginnings, beginning: RE2JS.compile(beginnings) };
  } catch (problem) {
    throw new Error(problem instanceof Error ? problem.message : String(problem), { cause: problem });
  }
}

function setOf(patterns: readonly string[]): RE2Set {
  const set = new (re2().RE2Set)();
  for (const pattern of patterns) set.add(pattern);
  set.compile();
  return set;
}

/** The matches of one pattern in a text. The next one does not depend on what was found before it. */
class Search {
  readonly #name: string;
  readonly #matcher: Matcher | undefined;
  #next: Finding | null = { start: -1, end: -1, type: "" };

  constructor(pattern: CompiledPattern | undefined, text: string) {
    this.#name = pattern?.name ?? "";
    this.#matcher = pattern?.whole.matcher(text);
  }

  /** The first match that starts at `from` or later. `from` never decreases. */
  next(from: number): Finding | null {
    if (this.#next !== null && this.#next.start < from) this.#next = this.#search(from);
    return this.#next;
  }

  #search(from: number): Finding | null {
    const matcher = this.#matcher;
    if (matcher === undefined || from > matcher.inputLength() || !matcher.find(from)) return null;
    while (matcher.end() === matcher.start()) if (!matcher.find()) return null;
    return { start: matcher.start(), end: matcher.end(), type: this.#name };
  }
}

/** The earlier one; at the same place the first pattern's. */
function earlier(one: Finding | null, other: Finding | null): Finding | null {
  if (one === null || other === null) return one ?? other;
  return other.start < one.start ? other : one;
}

/** Loaded with the first pattern: it takes longer to load than the rest of the detectors. */
function re2(): typeof import("re2js") {
  return require("re2js");
}
