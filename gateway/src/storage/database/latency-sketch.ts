/**
 * How long calls took, as counts in narrow spans of time: the sketch of DDSketch and HDR histograms. A span ends 2^(1/18), or 3.9 %,
 * behind where it begins, so that a percentile read from it is at most 2 % beside the true one, from 1 ms to 116 hours.
 *
 * A sketch is text, so that a database can add sketches up: one behind the other they are the sketch of both. Each span that
 * counted something is two characters of its number and, for most counts, one more; nothing else is written.
 */
const spansInDoubling = 18;
/** The end of `anchorSpan`; other spans end at doublings of it and in even steps between them. */
const anchorMs = 50;
const anchorSpan = 102;
export const lastSpan = anchorSpan + 23 * spansInDoubling;
/** Whatever took longer is counted as this. */
export const longestMs = spanEndMs(lastSpan);

/** Counts by span, from 0 (shorter than 1 ms) to `lastSpan`. */
export type SpanCounts = Float64Array;

export function noCounts(): SpanCounts {
  return new Float64Array(lastSpan + 1);
}

/** The span that something of this length is counted in. */
export function spanOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(lastSpan, anchorSpan + Math.ceil(spansInDoubling * Math.log2(ms / anchorMs)));
}

/** The longest time that a span counts. */
export function spanEndMs(span: number): number {
  return anchorMs * 2 ** ((span - anchorSpan) / spansInDoubling);
}

/** The sketch of one time. */
export function sketchOf(ms: number): string {
  return sketchesOfOne[spanOf(ms)] ?? "";
}

/** The same of a time that a database has made text of; empty where there is none. */
export function sketchOfText(ms: string): string {
  return ms === "" ? "" : sketchOf(Number(ms));
}

const folding = noCounts();

/** The same counts, each span written once: for a sketch that was put together of many. */
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

/** What the first sketch counts and none of the others does; each of them counts a part of it. */
export function sketchWithout(sketch: string, parts: readonly string[]): string {
  const counts = noCounts();
  for (const part of parts) addSketch(counts, part);
  const taken = counts.map((count) => -count);
  addSketch(taken, sketch);
  return sketchOfCounts(taken);
}

/** Adds what a sketch counts. Reading ends where the text is none. */
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

/**
 * For each share, rising, the shortest time that so much of all is not longer than, within 2 %; null when nothing was counted. Four
 * digits of it: the others would say nothing.
 */
export function percentilesOf(counts: SpanCounts, shares: readonly number[]): readonly (number | null)[] {
  let all = 0;
  for (const count of counts) all += count;
  if (all === 0) return shares.map(() => null);
  let span = 0;
  let upTo = counts[0] ?? 0;
  return shares.map((share) => {
    // Counts that were spread over several spans are fractions.
    const rank = Math.max(1, Math.ceil(share * all - roundingMax)) - roundingMax;
    while (upTo < rank && span < lastSpan) upTo += counts[++span] ?? 0;
    return middlesMs[span] ?? null;
  });
}

const roundingMax = 1e-6;

/** Of each span, what is as far beside its begin as beside its end, in proportion. */
const middlesMs = Array.from({ length: lastSpan + 1 }, (_, span) =>
  span === 0 ? 0.5 : Number(((2 * spanEndMs(span)) / (1 + 2 ** (1 / spansInDoubling))).toPrecision(4)),
);

/** Digits are the 64 characters from `0` on. Of a count each holds five bits, the lowest first, and whether there are more. */
const zero = 48;
const more = 32;
const lowBits = 31;

function pairOf(span: number, count: number): string {
  let pair = String.fromCharCode(zero + (span >> 6), zero + (span & 63));
  let rest = count;
  for (; rest >= more; rest = Math.floor(rest / more)) pair += String.fromCharCode(zero + more + (rest % more));
  return pair + String.fromCharCode(zero + rest);
}

function digitAt(text: string, at: number): number {
  return text.charCodeAt(at) - zero;
}

const sketchesOfOne = Array.from({ length: lastSpan + 1 }, (_, span) => pairOf(span, 1));
