import type { TruthRecord } from "@sluice/simulator";
import { expectedNanoUsd } from "../acceptance/ledger-rows.ts";

/** What was asked, what came out, and whether it is as promised. */
export interface Finding {
  readonly what: string;
  readonly figure: string;
  readonly good: boolean;
  /** Broken promises in words. */
  readonly faults: readonly string[];
}

const faultsShown = 20;
/** A machine that is busy with other work goes on within this. */
const stillMsMax = 120_000;

/** A finding that is good when nothing speaks against it. */
export function finding(what: string, figure: string, faults: readonly (string | null)[]): Finding {
  const told = faults.filter((fault) => fault !== null);
  return { what, figure, good: told.length === 0, faults: told };
}

/** Null when they are the same. */
export function unlike(name: string, found: number | string, wanted: number | string): string | null {
  return found === wanted ? null : `${name}: ${found} instead of ${wanted}`;
}

/** Lines for a terminal. */
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

/** Counts by name, in words. */
export function say(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${what} ${count}`).join(", ");
}

/** What the upstream has served at the price of the tests' models, in nano-USD. */
export function costOf({ prompt_tokens, cached_tokens, output_tokens_emitted }: TruthRecord): number {
  return expectedNanoUsd({
    input_uncached: prompt_tokens - cached_tokens,
    cache_read: cached_tokens,
    output: output_tokens_emitted,
  });
}

/** The most of these that were at the upstream at the same moment. */
export function mostAtOnce(truth: readonly TruthRecord[]): number {
  const steps = truth.flatMap(({ received_at, ended_at }) => [
    { atMs: received_at, by: 1 },
    { atMs: ended_at ?? Number.POSITIVE_INFINITY, by: -1 },
  ]);
  let now = 0;
  let most = 0;
  // Who ends in the same millisecond as somebody begins has ended before.
  for (const { by } of steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** A span of time, in milliseconds since 1970. */
export interface Stay {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The most of these that lie wholly within a time of this length, and where that begins. */
export function mostWithin(stays: readonly Stay[], ms: number): { readonly most: number; readonly fromMs: number } {
  let found = { most: 0, fromMs: 0 };
  for (const { fromMs } of stays) {
    const most = stays.filter((stay) => stay.fromMs >= fromMs && stay.untilMs - fromMs < ms).length;
    if (most > found.most) found = { most, fromMs };
  }
  return found;
}

/** The most of these that the upstream received within a time of this length, in milliseconds. */
export function mostReceived(truth: readonly TruthRecord[], ms: number): number {
  const stays = truth.map(({ received_at }) => ({ fromMs: received_at, untilMs: received_at }));
  return mostWithin(stays, ms).most;
}

/** The result of work that goes on as long as its count grows; null: it stands still. */
export async function whileMoving<Result>(work: Promise<Result>, count: () => number): Promise<Result | null> {
  for (let before = Number.NaN; before !== count(); ) {
    before = count();
    const done = await Promise.race([work.then((result) => ({ result })), Bun.sleep(stillMsMax).then(() => null)]);
    if (done !== null) return done.result;
  }
  return null;
}
