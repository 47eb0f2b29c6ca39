import type { Detector, Finding } from "#core/index.ts";
import type { JudgedText } from "./judged-texts.ts";

interface MaskedValue {
  readonly value: string;
  readonly type: string;
  /** It was a whole word in each place: it is not masked inside longer ones. */
  readonly isWord: boolean;
}

/** Finds the values that a service has found in the same texts, for texts that come in pieces. */
export function valueDetector(texts: readonly JudgedText[], masks: ReadonlyMap<number, readonly Finding[]>): Detector {
  const values = new Map<string, MaskedValue>();
  for (const [index, findings] of masks) {
    const text = texts[index]?.text ?? "";
    for (const { start, end, type } of findings) {
      const value = text.slice(start, end);
      const isWord = values.get(value)?.isWord !== false && isWholeWord(text, start, end);
      values.set(value, { value, type, isWord });
    }
  }
  const longest = Math.max(0, ...[...values.keys()].map((value) => value.length));
  return {
    find: (text, from = 0) => withoutOverlaps([...values.values()].flatMap((one) => placesOf(text, from, one))),
    // The character after a value decides about it.
    pendingFrom: (text, from = 0) => Math.max(from, text.length - longest),
  };
}

function placesOf(text: string, from: number, { value, type, isWord }: MaskedValue): readonly Finding[] {
  const found: Finding[] = [];
  for (let start = text.indexOf(value, from); start !== -1; start = text.indexOf(value, start + 1)) {
    const end = start + value.length;
    if (!isWord || isWholeWord(text, start, end)) found.push({ start, end, type });
  }
  return found;
}

/** Joins overlapping findings. */
function withoutOverlaps(findings: readonly Finding[]): readonly Finding[] {
  const joined: { start: number; end: number; type: string }[] = [];
  for (const finding of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last !== undefined && finding.start < last.end) last.end = Math.max(last.end, finding.end);
    else joined.push({ ...finding });
  }
  return joined;
}

const wordCharacter = /[\p{L}\p{N}_]/u;

function isWholeWord(text: string, start: number, end: number): boolean {
  return !wordCharacter.test(text.charAt(start - 1)) && !wordCharacter.test(text.charAt(end));
}
