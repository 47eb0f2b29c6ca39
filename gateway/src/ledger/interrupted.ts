import {
  type Checkpoint,
  type Intent,
  inputTokensOf,
  joinEntry,
  type LedgerEntry,
  noUsage,
  onlyCounts,
  type PriceVersion,
  type Settled,
  settle,
  type Usage,
  usualTerms,
} from "#core/index.ts";
import type { OpenAttempt } from "./open-attempts.ts";

/**
 * The entry of an attempt whose process died. What it used is what its last checkpoint says, and without one its input:
 * it was about to be sent, so it may have been done. A background response goes on at its upstream, so it is pending. It comes out the
 * same however often the same journal is recovered.
 */
export function interruptedEntry(attempt: OpenAttempt, price: PriceVersion | null): LedgerEntry {
  const { intent, checkpoint } = attempt;
  const usage = usedBy(checkpoint, intent);
  const pending = checkpoint?.pending === true;
  const endedAt = Math.max(intent.at, checkpoint?.at ?? intent.at);
  return joinEntry(intent, {
    attemptId: intent.attemptId,
    endedAt,
    outcome: pending ? "pending" : "interrupted",
    httpStatus: pending ? 200 : 0,
    upstreamStatus: null,
    errorCode: pending ? null : "interrupted",
    usage,
    usageSource: usage === noUsage ? "none" : "estimated",
    rawUsage: null,
    ...charged(attempt, price, usage),
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

function charged({ intent, checkpoint }: OpenAttempt, price: PriceVersion | null, usage: Usage): Settled {
  const { priceVersion, upstreamModel } = intent;
  if (checkpoint?.pending === true) return { costNanoUsd: 0, priceVersion };
  // The version of its last checkpoint: what the answer said until then is in that.
  const settled = settle({ price, usage, terms: usualTerms, upstreamModel });
  return { ...settled, priceVersion: checkpoint?.priceVersion ?? priceVersion };
}

function usedBy(checkpoint: Checkpoint | null, intent: Intent): Usage {
  if (checkpoint === null) return onlyCounts(intent.endpoint) ? noUsage : withInput(noUsage, intent);
  return withInput(checkpoint.usage, intent);
}

/** Many upstreams tell the input only at the very end; till then it is the intent's estimate, as is what is no tokens. */
function withInput(usage: Usage, { inputEstimate, counted }: Intent): Usage {
  return inputTokensOf(usage) > 0 ? usage : { ...usage, ...counted, inputUncached: inputEstimate };
}
