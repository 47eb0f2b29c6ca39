import {
  bounds,
  type Checkpoint,
  type GuardrailCheckEntry,
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
 * Stores the entries and checks of a dead process's journal and then removes its files. Only open attempts are held in memory. It may be
 * interrupted anywhere and repeated: each entry is stored once. Returns the number of new entries, and of attempts that never ended.
 */
export async function recover(options: {
  readonly leftovers: JournalLeftovers;
  readonly store: Pick<LedgerStore, "insert" | "insertChecks" | "price">;
  /** Entries per insert. */
  readonly batchMax?: number;
  /** Stops it between two batches. */
  readonly signal?: AbortSignal;
  /** Called with entries that are now in the database. After an interruption it may be called again with the same. */
  readonly onStored?: ((entries: readonly LedgerEntry[]) => void) | undefined;
}) {
  const { leftovers, store, batchMax = bounds.drainBatchMax, signal, onStored } = options;
  const open = new OpenAttempts();
  const prices = new Map<string, PriceVersion | null>();
  let batch: LedgerEntry[] = [];
  let checks: GuardrailCheckEntry[] = [];
  let stored = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    const entries = batch;
    const found = checks;
    batch = [];
    checks = [];
    if (found.length > 0) await store.insertChecks(found);
    if (entries.length === 0) return;
    stored += await store.insert(entries);
    onStored?.(entries);
  };
  for await (const record of leftovers.records()) {
    const entry = open.take(record);
    if (entry !== null) batch.push(entry);
    if (record.type === "check") checks.push(record.value);
    if (batch.length + checks.length >= batchMax) await flush();
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
 * The entry of an attempt in a process that died. Its usage is taken from the last checkpoint; without one, its input is charged, because
 * it may have been sent. A background response continues at its upstream, so it is pending. Recovering the same journal again gives the
 * same entry.
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
    // The wall clock may have been set back, and no part may be longer than the whole.
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
  // The last checkpoint's version, which follows the model and tier that the answer had named.
  const settled = settle({ price, usage, terms: usualTerms, upstreamModel });
  return { ...settled, priceVersion: checkpoint?.priceVersion ?? priceVersion };
}

function usedBy(checkpoint: Checkpoint | null, intent: Intent): Usage {
  if (checkpoint === null) return onlyCounts(intent.endpoint) ? noUsage : withInput(noUsage, intent);
  return withInput(checkpoint.usage, intent);
}

/** Many upstreams report the input only at the end; until then it is the intent's estimate. */
function withInput(usage: Usage, { inputEstimate, counted }: Intent): Usage {
  return inputTokensOf(usage) > 0 ? usage : { ...usage, ...counted, inputUncached: inputEstimate };
}
