import type { Detector } from "#core/index.ts";
import { isHighSurrogate } from "./characters.ts";
import { type Matches, scanDetector } from "./scan.ts";
import { visibleText } from "./visible-text.ts";

export interface WordList {
  readonly words: readonly string[];
  readonly wholeWords: boolean;
  readonly ignoreCase: boolean;
}

/**
 * Finds words and phrases: at each place the longest one. All words are one tree, so that a text takes the same time for one word and for
 * thousands.
 */
export function wordDetector({ words, wholeWords, ignoreCase }: WordList): Detector {
  const fold = ignoreCase ? caseFolding() : null;
  const forms = words
    .map((word) => visibleText(word).text.trim())
    .filter((word) => word !== "" && word.isWellFormed())
    .map((word) =>
      fold === null
        ? word
        : Array.from(word.split(""), (unit) => String.fromCharCode(fold[unit.charCodeAt(0)] ?? 0)).join(""),
    );
  const tree = new WordTree(forms);
  return scanDetector((matches) => {
    const { text } = matches;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (tree.begins(fold === null ? code : (fold[code] ?? 0))) addWord(matches, at, { tree, fold, wholeWords });
    }
  });
}

interface CompiledWords {
  readonly tree: WordTree;
  readonly fold: Uint16Array | null;
  readonly wholeWords: boolean;
}

function addWord(matches: Matches, at: number, { tree, fold, wholeWords }: CompiledWords): void {
  const { text } = matches;
  if (wholeWords && !isBorder(text, at)) return;
  let node = 0;
  let end = -1;
  let place = at;
  for (; node !== -1; place++) {
    if (tree.isWord(node) && (!wholeWords || isBorder(text, place))) end = place;
    if (place === text.length) break;
    const code = text.charCodeAt(place);
    node = tree.child(node, fold === null ? code : (fold[code] ?? 0));
  }
  // The next character may lengthen the word, or show that it continues; the second half of a surrogate pair too.
  const isHalf = wholeWords && end === text.length - 1 && isHighSurrogate(text.charCodeAt(end));
  if (node !== -1 || isHalf) matches.pending(at);
  if (end !== -1) matches.add(at, end, "word");
}

/** A tree of characters in arrays: the children of a node are neighbors, in order. */
class WordTree {
  readonly #chars: Uint16Array;
  readonly #firstChild: Uint32Array;
  readonly #words: Uint8Array;
  /** First characters of all words. */
  readonly #first = new Uint8Array(65_536);

  constructor(all: readonly string[]) {
    const words = [...new Set(all)].sort(byCodeUnits);
    for (const word of words) this.#first[word.charCodeAt(0)] = 1;
    const chars = [0];
    const firstChild: number[] = [];
    const isWord: number[] = [];
    // Each node is the range of the words that begin with its characters. Nodes are numbered level by level.
    const ranges = [{ from: 0, until: words.length, depth: 0 }];
    for (let node = 0; node < ranges.length; node++) {
      const { from, until, depth } = ranges[node] ?? { from: 0, until: 0, depth: 0 };
      firstChild.push(ranges.length);
      const ends = words[from]?.length === depth;
      isWord.push(ends ? 1 : 0);
      for (let start = ends ? from + 1 : from; start < until; ) {
        const char = words[start]?.charCodeAt(depth) ?? 0;
        let end = start + 1;
        while (end < until && words[end]?.charCodeAt(depth) === char) end++;
        chars.push(char);
        ranges.push({ from: start, until: end, depth: depth + 1 });
        start = end;
      }
    }
    firstChild.push(ranges.length);
    this.#chars = Uint16Array.from(chars);
    this.#firstChild = Uint32Array.from(firstChild);
    this.#words = Uint8Array.from(isWord);
  }

  begins(char: number): boolean {
    return this.#first[char] === 1;
  }

  isWord(node: number): boolean {
    return this.#words[node] === 1;
  }

  /** -1: no word continues with this character. */
  child(node: number, char: number): number {
    let from = this.#firstChild[node] ?? 0;
    let until = this.#firstChild[node + 1] ?? 0;
    while (from < until) {
      const middle = (from + until) >> 1;
      const found = this.#chars[middle] ?? 0;
      if (found === char) return middle;
      if (found < char) from = middle + 1;
      else until = middle;
    }
    return -1;
  }
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

let folding: Uint16Array | null = null;

/**
 * Simple case folding of Unicode, by UTF-16 unit: every character keeps its length, so `ß` is not `ss`. Made with the first list of words,
 * in a few milliseconds.
 */
function caseFolding(): Uint16Array {
  folding ??= Uint16Array.from({ length: 65_536 }, (_, code) => {
    const upper = String.fromCharCode(code).toUpperCase();
    const lower = (upper.length === 1 ? upper : String.fromCharCode(code)).toLowerCase();
    return lower.length === 1 ? lower.charCodeAt(0) : code;
  });
  return folding;
}

/** Whether a word may begin or end here: not between two characters of words that are written with spaces. */
function isBorder(text: string, at: number): boolean {
  return !isSpaced(characterBefore(text, at)) || !isSpaced(characterAt(text, at));
}

const wordCharacter = /^[\p{L}\p{M}\p{N}_]/u;
/** Scripts that do not separate words, and Korean, which adds endings to them. */
const unspaced =
  /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\u3005-\u3007\u30fc]/u;

function isSpaced(char: string): boolean {
  return wordCharacter.test(char) && !unspaced.test(char);
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  const pair = at > 1 ? characterAt(text, at - 2) : "";
  return pair.length === 2 ? pair : text.charAt(at - 1);
}
