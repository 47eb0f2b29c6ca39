/**
 * Latency sketches: counts in narrow spans, like DDSketch and HDR histograms. Spans are 2^(1/18), or 3.9 %, wide, so percentiles are
 * exact to 2 %, from 1 ms to 116 hours.
 * A sketch is text, so that databases can merge sketches by concatenation. Each counted span takes two characters for its number and
 * mostly one for its count.
 */
const spansInDoubling = 18;
/** End of `anchorSpan`; the other spans follow from it. */
const anchorMs = 50;
const anchorSpan = 102;
export const lastSpan = anchorSpan + 23 * spansInDoubling;
/** Longer durations count as this. */
export const longestMs = spanEndMs(lastSpan);

/** Counts by span, from 0 (shorter than 1 ms) to `lastSpan`. */
export type SpanCounts = Float64Array;

export function noCounts(): SpanCounts {
  return new Float64Array(lastSpan + 1);
}

/** The span of a duration. */
export function spanOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(lastSpan, anchorSpan + Math.ceil(spansInDoubling * Math.log2(ms / anchorMs)));
}

/** The longest duration in a span. */
export function spanEndMs(span: number): number {
  return anchorMs * 2 ** ((span - anchorSpan) / spansInDoubling);
}

/** The sketch of one duration. */
export function sketchOf(ms: number): string {
  return sketchesOfOne[spanOf(ms)] ?? "";
}

/** From a duration as text; empty for an empty text. */
export function sketchOfText(ms: string): string {
  return ms === "" ? "" : sketchOf(Number(ms));
}

const folding = noCounts();

/** Rewrites a merged sketch with each span once. */
export function foldedSketch(sketch: string): string {
  const counts = folding.fill(0);
  addSketch(counts, sketch);
  return sketchOfCounts(counts);
}

function sketchOfCounts(counts: SpanCounts): string {
  let sketch = "";
  for (let span = 0; span <= lastSpan; span++) {
    const count = counts[span] ?? 0;
    if (count > 0) sketch += pairOf(span, count);
  }
  return sketch;
}

/** Subtracts `parts`, each of which is included in the sketch. */
export function sketchWithout(sketch: string, parts: readonly string[]): string {
  const counts = folding.fill(0);
  for (const part of parts) addSketch(counts, part);
  for (let span = 0; span <= lastSpan; span++) counts[span] = -(counts[span] ?? 0);
  addSketch(counts, sketch);
  return sketchOfCounts(counts);
}

/** Adds the counts of a sketch. Stops at invalid text. */
export function addSketch(counts: SpanCounts, sketch: string): void {
  let at = 0;
  while (at + 2 < sketch.length) {
    const span = (digitAt(sketch, at) << 6) | digitAt(sketch, at + 1);
    at += 2;
    let digit = digitAt(sketch, at++);
    let count = digit & lowBits;
    for (let scale = more; digit >= more && at < sketch.length; scale *= more) {
      digit = digitAt(sketch, at++);
      count += (digit & lowBits) * scale;
    }
    if (span < 0 || span > lastSpan) return;
    counts[span] = (counts[span] ?? 0) + count;
  }
}

/** Percentiles for ascending shares, exact to 2 % and rounded to four digits; null: nothing was counted. */
export function percentilesOf(counts: SpanCounts, shares: readonly number[]): readonly (number | null)[] {
  let all = 0;
  // An iterator would take five times as long, and there may be a hundred thousand sketches.
  for (let span = 0; span <= lastSpan; span++) all += counts[span] ?? 0;
  if (all === 0) return shares.map(() => null);
  let span = 0;
  let upTo = counts[0] ?? 0;
  return shares.map((share) => {
    // Counts may be fractions.
    const rank = Math.max(1, Math.ceil(share * all - roundingMax)) - roundingMax;
    while (upTo < rank && span < lastSpan) upTo += counts[++span] ?? 0;
    return middlesMs[span] ?? null;
  });
}

const roundingMax = 1e-6;

/** The geometric middle of each span. */
const middlesMs = Array.from({ length: lastSpan + 1 }, (_, span) =>
  span === 0 ? 0.5 : Number(((2 * spanEndMs(span)) / (1 + 2 ** (1 / spansInDoubling))).toPrecision(4)),
);

/** Digits are the 64 characters from `0` on. Each digit of a count holds five bits, lowest first, and a flag for more. */
const zero = 48;
const more = 32;
const lowBits = 31;

const digits = Array.from({ length: 2 * more }, (_, digit) => String.fromCharCode(zero + digit));
const spanTexts = Array.from({ length: lastSpan + 1 }, (_, span) => `${digits[span >> 6]}${digits[span & 63]}`);

function pairOf(span: number, count: number): string {
  let pair = spanTexts[span] ?? "";
  let rest = count;
  for (; rest >= more; rest = Math.floor(rest / more)) pair += digits[more + (rest % more)];
  return `${pair}${digits[rest]}`;
}

function digitAt(text: string, at: number): number {
  return text.charCodeAt(at) - zero;
}

const sketchesOfOne = Array.from({ length: lastSpan + 1 }, (_, span) => pairOf(span, 1));
