import {
  bounds,
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
import type { JournalLeftovers, LedgerStore } from "#ports/index.ts";
import { type OpenAttempt, OpenAttempts } from "./open-attempts.ts";

/**
 * Brings what dead processes left in the journal into the database and removes the files when all of it is there.
 * Only open attempts are held in memory. May be broken off anywhere and begun again: entries count once.
 * Gives how many entries are new in the database, and how many of all were attempts that never ended.
 */
export async function recover(options: {
  readonly leftovers: JournalLeftovers;
  readonly store: Pick<LedgerStore, "insert" | "price">;
  /** How many entries go into the database at once. */
  readonly batchMax?: number;
  /** Breaks it off between two batches. */
  readonly signal?: AbortSignal;
  /** Hears of entries that are in the database now; of some it may hear again, when it was broken off. */
  readonly onStored?: ((entries: readonly LedgerEntry[]) => void) | undefined;
}) {
  const { leftovers, store, batchMax = bounds.drainBatchMax, signal, onStored } = options;
  const open = new OpenAttempts();
  const prices = new Map<string, PriceVersion | null>();
  let batch: LedgerEntry[] = [];
  let stored = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    const entries = batch;
    batch = [];
    if (entries.length === 0) return;
    stored += await store.insert(entries);
    onStored?.(entries);
  };
  for await (const record of leftovers.records()) {
    const entry = open.take(record);
    if (entry !== null) batch.push(entry);
    if (batch.length >= batchMax) await flush();
  }
  for (const attempt of open.values()) {
    const id = attempt.checkpoint?.priceVersion ?? attempt.intent.priceVersion;
    if (id !== null && !prices.has(id)) prices.set(id, await store.price(id));
    batch.push(interruptedEntry(attempt, id === null ? null : (prices.get(id) ?? null)));
    if (batch.length >= batchMax) await flush();
  }
  await flush();
  await leftovers.discard();
  return { stored, interrupted: open.size, damage: leftovers.damage };
}

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
