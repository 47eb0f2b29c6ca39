import { costOf, joinEntry, type LedgerEntry, noUsage, type PriceVersion, type Usage } from "#core/index.ts";
import type { OpenAttempt } from "./open-attempts.ts";

/**
 * The entry of an attempt whose process died. What it used is what its last checkpoint says, and nothing without one:
 * then nobody has seen the upstream answer. It comes out the same however often the same journal is recovered.
 */
export function interruptedEntry(attempt: OpenAttempt, price: PriceVersion | null): LedgerEntry {
  const { intent, checkpoint } = attempt;
  const usage = checkpoint === null ? noUsage : withInput(checkpoint.usage, intent.inputEstimate);
  const endedAt = Math.max(intent.at, checkpoint?.at ?? intent.at);
  return joinEntry(intent, {
    attemptId: intent.attemptId,
    endedAt,
    outcome: "interrupted",
    httpStatus: 0,
    errorCode: "interrupted",
    usage,
    // Without usage of its own an answer made in the background is paid for when somebody sees it done.
    usageSource: checkpoint === null || checkpoint.usageSource === "none" ? "none" : "estimated",
    rawUsage: null,
    costNanoUsd: price === null ? 0 : costOf(price.table, usage),
    totalMs: endedAt - intent.at,
    firstByteMs: checkpoint?.firstByteMs ?? null,
    firstTokenMs: checkpoint?.firstTokenMs ?? null,
    upstreamMs: null,
    overheadMs: null,
    upstreamId: checkpoint?.upstreamId ?? null,
  });
}

/** Many upstreams tell the input only at the very end. An answer that was streaming had some: the intent's estimate. */
function withInput(usage: Usage, inputEstimate: number): Usage {
  const told =
    usage.inputUncached +
    usage.cacheRead +
    usage.cacheWrite5m +
    usage.cacheWrite1h +
    usage.audioInput +
    usage.imageInput;
  return told > 0 || usage.output === 0 ? usage : { ...usage, inputUncached: inputEstimate };
}
