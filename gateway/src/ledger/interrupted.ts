import {
  type Checkpoint,
  type Intent,
  inputTokensOf,
  joinEntry,
  type LedgerEntry,
  noUsage,
  onlyCounts,
  type PriceVersion,
  settle,
  type Usage,
  usualTerms,
} from "#core/index.ts";
import type { OpenAttempt } from "./open-attempts.ts";

/**
 * The entry of an attempt whose process died. What it used is what its last checkpoint says, and without one its input:
 * it was about to be sent, so it may have been done. It comes out the same however often the same journal is recovered.
 */
export function interruptedEntry(attempt: OpenAttempt, price: PriceVersion | null): LedgerEntry {
  const { intent, checkpoint } = attempt;
  const usage = usedBy(checkpoint, intent);
  const endedAt = Math.max(intent.at, checkpoint?.at ?? intent.at);
  return joinEntry(intent, {
    attemptId: intent.attemptId,
    endedAt,
    outcome: "interrupted",
    httpStatus: 0,
    upstreamStatus: null,
    errorCode: "interrupted",
    usage,
    usageSource: usage === noUsage ? "none" : "estimated",
    rawUsage: null,
    // The version of its last checkpoint: what the answer said until then is in that.
    ...settle({ price, usage, terms: usualTerms, upstreamModel: intent.upstreamModel }),
    priceVersion: checkpoint?.priceVersion ?? intent.priceVersion,
    // The wall clock may have been set back meanwhile, and no part is longer than its whole.
    totalMs: Math.max(endedAt - intent.at, checkpoint?.firstByteMs ?? 0, checkpoint?.firstTokenMs ?? 0),
    firstByteMs: checkpoint?.firstByteMs ?? null,
    firstTokenMs: checkpoint?.firstTokenMs ?? null,
    upstreamMs: null,
    overheadMs: null,
    upstreamId: checkpoint?.upstreamId ?? null,
    ...(checkpoint?.objects === undefined ? {} : { objects: checkpoint.objects }),
  });
}

function usedBy(checkpoint: Checkpoint | null, intent: Intent): Usage {
  if (checkpoint === null) return onlyCounts(intent.endpoint) ? noUsage : withInput(noUsage, intent);
  // Without usage of its own an answer made in the background is paid for when somebody sees it done.
  return checkpoint.usageSource === "none" ? noUsage : withInput(checkpoint.usage, intent);
}

/** Many upstreams tell the input only at the very end; till then it is the intent's estimate, as is what is no tokens. */
function withInput(usage: Usage, { inputEstimate, counted }: Intent): Usage {
  return inputTokensOf(usage) > 0 ? usage : { ...usage, ...counted, inputUncached: inputEstimate };
}
