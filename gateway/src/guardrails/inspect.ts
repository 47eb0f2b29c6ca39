import type { Detector, Finding, Guardrail } from "#core/index.ts";
import type { ReadTexts, TextSpan } from "#protocols/index.ts";
import { isBareNumber, type PlainText, plainText, rawOffset } from "./json-text.ts";
import type { LocatingRule } from "./policy.ts";

/** Paths in a report. */
const pathsMax = 10;

/** The findings of one guardrail in a request or an answer: at least one. Plain data, so that a thread can return it. */
export interface Tally {
  /** Findings by type. */
  readonly counts: Map<string, number>;
  /** Where, without positions in the text. */
  readonly paths: string[];
  /** Findings in signed texts, which cannot be masked. */
  unmasked: number;
  /** Findings to mask in encoded files, which are refused. */
  inFiles: number;
}

/** The findings of each guardrail, by its index. null: none. */
export class Tallies {
  readonly all: (Tally | null)[];

  constructor(guardrails: number) {
    this.all = new Array<Tally | null>(guardrails).fill(null);
  }

  /** To count a finding in. */
  of(index: number): Tally {
    const tally = this.all[index] ?? { counts: new Map<string, number>(), paths: [], unmasked: 0, inFiles: 0 };
    this.all[index] = tally;
    return tally;
  }
}

export function count({ counts, paths }: Tally, type: string, path: string): void {
  counts.set(type, (counts.get(type) ?? 0) + 1);
  if (path !== "" && paths.length < pathsMax && !paths.includes(path)) paths.push(path);
}

/** A range of a text to replace. UTF-16 offsets in the plain text. */
export interface Masked extends Finding {
  readonly value: string;
}

export function appliesTo({ at }: Guardrail, { place }: Pick<TextSpan, "place">): boolean {
  return at === null || at.includes(place);
}

export function isMasking({ action, enforce }: Guardrail): boolean {
  return action === "mask" && enforce;
}

/** Joins findings that overlap, so that no part of any remains. The first one gives the type. */
export function mergeFindings(text: string, findings: Finding[]): Masked[] {
  const merged: { start: number; end: number; type: string }[] = [];
  for (const finding of findings.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last !== undefined && finding.start < last.end) last.end = Math.max(last.end, finding.end);
    else merged.push({ ...finding });
  }
  return merged.map((each) => ({ ...each, value: text.slice(each.start, each.end) }));
}

/** A range of bytes to mask. Plain data, so that a thread can return it. */
export interface MaskedBytes {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly value: string;
  /** How often the replacement is escaped. */
  readonly levels: number;
  /** It replaces a number, and needs quotes. */
  readonly isBare: boolean;
}

export interface Inspection {
  /** One for each rule, in their order; null: nothing was found. */
  readonly tallies: readonly (Tally | null)[];
  /** Ascending. Ranges of both lists do not overlap. */
  readonly masked: readonly MaskedBytes[];
  /** Placeholders to replace by their values. */
  readonly restored: readonly MaskedBytes[];
}

export interface InspectOptions {
  readonly rules: readonly LocatingRule[];
  /** Finds placeholders; null: none were issued. */
  readonly placeholders: Detector | null;
  /** Called before each text. Throws when the check takes too long. */
  readonly checkTime: () => void;
  /** More places to mask, by the index of their text. */
  readonly masks?: ReadonlyMap<number, readonly Finding[]> | undefined;
}

/** Checks all texts of a body. */
export function inspectTexts(
  bytes: Buffer,
  { texts }: Pick<ReadTexts, "texts">,
  { rules, placeholders, checkTime, masks }: InspectOptions,
): Inspection {
  const tallies = new Tallies(rules.length);
  const masked: MaskedBytes[] = [];
  const restored: MaskedBytes[] = [];
  for (const [position, span] of texts.entries()) {
    checkTime();
    const plain = plainText(bytes, span);
    const toMask: Finding[] = [...(masks?.get(position) ?? [])];
    rules.forEach(({ guardrail, detector }, index) => {
      if (!appliesTo(guardrail, span)) return;
      for (const finding of detector.find(plain.text)) {
        const tally = tallies.of(index);
        count(tally, finding.type, pathOf(span));
        if (!isMasking(guardrail)) continue;
        if (span.signed) tally.unmasked++;
        else if (span.kind === "file") tally.inFiles++;
        else toMask.push(finding);
      }
    });
    const own = mergeFindings(plain.text, toMask);
    for (const each of own) masked.push(maskedBytes(span, plain, each));
    if (placeholders === null || span.signed || span.kind === "file") continue;
    for (const each of placeholders.find(plain.text)) {
      if (own.some(({ start, end }) => start < each.end && each.start < end)) continue;
      restored.push(maskedBytes(span, plain, { ...each, value: each.type }));
    }
  }
  return { tallies: tallies.all, masked, restored };
}

export function pathOf({ parent, name, position, kind }: TextSpan): string {
  if (parent.parent === null && name === null) return "";
  return kind === "name" ? `the name of a member of ${parent.path() || "the body"}` : parent.pathOf(name, position);
}

/** Throws if the bytes are not UTF-8: offsets would be wrong. */
export function maskedBytes(span: TextSpan, plain: PlainText, found: Masked): MaskedBytes {
  const { raw, text, levels } = plain;
  if (Buffer.byteLength(raw) !== span.end - span.start) throw new Error("a text to mask is not valid UTF-8");
  const start = rawOffset(plain, found.start);
  const end = rawOffset(plain, found.end);
  const from = span.start + Buffer.byteLength(raw.slice(0, start));
  return {
    start: from,
    end: from + Buffer.byteLength(raw.slice(start, end)),
    type: found.type,
    value: found.value,
    levels,
    isBare: levels > 0 && (span.kind === "value" || span.json) && isBareNumber(text, found.start, found.end),
  };
}
