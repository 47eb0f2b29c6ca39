import type { TruthRecord } from "@sluice/simulator";
import { expectedNanoUsd } from "../acceptance/ledger-rows.ts";

/** A checked claim and its result. */
export interface Finding {
  readonly what: string;
  readonly figure: string;
  readonly good: boolean;
  /** Descriptions of what is wrong. */
  readonly faults: readonly string[];
}

const faultsShown = 20;
/** Even a busy machine makes progress within this time. */
const stillMsMax = 120_000;

/** A finding that passes if there are no problems. */
export function finding(what: string, figure: string, faults: readonly (string | null)[]): Finding {
  const found = faults.filter((fault) => fault !== null);
  return { what, figure, good: found.length === 0, faults: found };
}

/** Returns null if both are equal. */
export function mismatch(name: string, found: number | string, wanted: number | string): string | null {
  return found === wanted ? null : `${name}: ${found} instead of ${wanted}`;
}

/** Formats findings for a terminal. */
export function table(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ what }) => what.length));
  return findings
    .flatMap(({ what, figure, good, faults }) => [
      `${good ? "ok  " : "FAIL"}  ${what.padEnd(width)}  ${figure}`,
      ...faults.slice(0, faultsShown).map((fault) => `      ${fault}`),
      ...(faults.length > faultsShown ? [`      and ${faults.length - faultsShown} more`] : []),
    ])
    .join("\n");
}

/** Formats counts by name. */
export function formatCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${what} ${count}`).join(", ");
}

/** The cost of what the upstream served, at the price of the test models, in nano-USD. */
export function costOf({ prompt_tokens, cached_tokens, output_tokens_emitted }: TruthRecord): number {
  return expectedNanoUsd({
    input_uncached: prompt_tokens - cached_tokens,
    cache_read: cached_tokens,
    output: output_tokens_emitted,
  });
}

/** The largest number of records that were at the upstream at the same time. */
export function mostAtOnce(truth: readonly TruthRecord[]): number {
  const steps = truth.flatMap(({ received_at, ended_at }) => [
    { atMs: received_at, by: 1 },
    { atMs: ended_at ?? Number.POSITIVE_INFINITY, by: -1 },
  ]);
  let now = 0;
  let most = 0;
  // At the same millisecond, ends count before starts.
  for (const { by } of steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** Two times, in milliseconds since 1970. */
export interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The largest number of intervals that fit into a window of this length, and where that window starts. */
export function mostWithin(
  intervals: readonly Interval[],
  ms: number,
): { readonly most: number; readonly fromMs: number } {
  let found = { most: 0, fromMs: 0 };
  for (const { fromMs } of intervals) {
    const most = intervals.filter((interval) => interval.fromMs >= fromMs && interval.untilMs - fromMs < ms).length;
    if (most > found.most) found = { most, fromMs };
  }
  return found;
}

/** The largest number of records that the upstream received within a window of this length, in milliseconds. */
export function mostReceived(truth: readonly TruthRecord[], ms: number): number {
  const intervals = truth.map(({ received_at }) => ({ fromMs: received_at, untilMs: received_at }));
  return mostWithin(intervals, ms).most;
}

/** Resolves to the result of `work`, or to null if `count` stops growing before `work` is done. */
export async function whileProgressing<Result>(work: Promise<Result>, count: () => number): Promise<Result | null> {
  for (let before = Number.NaN; before !== count(); ) {
    before = count();
    const done = await Promise.race([work.then((result) => ({ result })), Bun.sleep(stillMsMax).then(() => null)]);
    if (done !== null) return done.result;
  }
  return null;
}
