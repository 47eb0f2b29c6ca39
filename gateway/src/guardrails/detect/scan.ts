import { type Detector, detectorContext, type Finding } from "#core/index.ts";
import { isHighSurrogate } from "./characters.ts";
import { type VisibleText, visibleText } from "./visible-text.ts";

/** Half of the context: the rest is for the characters between it and the finding, such as `= "`. */
const contextMax = detectorContext / 2;

/** Collects the matches of a scanner in a text. They may overlap, in any order. */
export class Matches {
  readonly text: string;
  /** The start of the first match that more text could complete, lengthen or end. */
  pendingFrom: number;
  readonly #places: Uint32Array | null;
  readonly #from: number;
  readonly #matches: Match[] = [];

  /** Ignores what starts before `from`, an offset in the original text. */
  constructor({ text, places }: VisibleText, from: number) {
    this.text = text;
    this.#places = places;
    this.#from = from;
    this.pendingFrom = text.length;
  }

  /** At the same start, the lowest rank is used, then the longest match. */
  add(start: number, end: number, type: string, rank = 0): void {
    if (this.mayStart(start)) this.#matches.push({ start, end, type, rank });
  }

  /** Whether the place is not released yet. */
  mayStart(at: number): boolean {
    return this.#placeOf(at) >= this.#from;
  }

  pending(start: number): void {
    if (start < this.pendingFrom && this.mayStart(start)) this.pendingFrom = start;
  }

  /** The text before `at`: up to `count` characters, counted as in the original text so that a stream sees the same. */
  before(at: number, count: number): string {
    let start = Math.max(0, at - count);
    if (this.#places !== null) {
      const place = this.#places[at] ?? 0;
      while (place - (this.#places[start] ?? 0) > contextMax) start++;
    }
    return this.text.slice(start, at);
  }

  /** The first match, then the first after its end, and so on. */
  findings(): readonly Finding[] {
    const findings: Finding[] = [];
    let end = 0;
    for (const match of this.#matches.sort(byStart)) {
      if (match.start < end) continue;
      end = match.end;
      findings.push({ start: this.#placeOf(match.start), end: this.#placeOf(end - 1) + 1, type: match.type });
    }
    return findings;
  }

  pendingPlace(): number {
    return this.#placeOf(this.pendingFrom);
  }

  #placeOf(at: number): number {
    return this.#places === null ? at : (this.#places[at] ?? 0);
  }
}

interface Match extends Finding {
  readonly rank: number;
}

function byStart(a: Match, b: Match): number {
  return a.start - b.start || a.rank - b.rank || b.end - a.end;
}

/** `scan` adds all matches and pending starts of the text. It looks back by `Matches.before` or by one character only. */
export function scanDetector(scan: (matches: Matches) => void): Detector {
  const matchesOf = (text: string, from: number): Matches => {
    const matches = new Matches(visibleText(text), from);
    scan(matches);
    return matches;
  };
  return {
    find: (text, from = 0) => matchesOf(text, from).findings(),
    pendingFrom: (text, from = 0) => {
      const matches = matchesOf(text, from);
      return releasable(text, matches.pendingPlace(), matches.findings());
    },
  };
}

/** Moves an offset before the finding or the surrogate pair that it would divide. */
export function releasable(text: string, pending: number, findings: readonly Finding[]): number {
  const divided = findings.find(({ start, end }) => start < pending && pending < end);
  if (divided !== undefined) return divided.start;
  return pending > 0 && isHighSurrogate(text.charCodeAt(pending - 1)) ? pending - 1 : pending;
}
