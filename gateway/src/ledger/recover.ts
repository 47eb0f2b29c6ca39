import { bounds, type LedgerEntry, type PriceVersion } from "#core/index.ts";
import type { JournalLeftovers, LedgerStore } from "#ports/index.ts";
import { interruptedEntry } from "./interrupted.ts";
import { OpenAttempts } from "./open-attempts.ts";

/** What was put right: entries new in the database, and how many of all were attempts that never ended. */
export interface Recovery {
  readonly stored: number;
  readonly interrupted: number;
  readonly damage: readonly string[];
}

/**
 * Brings what dead processes left in the journal into the database and removes the files when all of it is there.
 * Only open attempts are held in memory. May be broken off anywhere and begun again: entries count once.
 */
export async function recover(options: {
  readonly leftovers: JournalLeftovers;
  readonly store: Pick<LedgerStore, "insert" | "price">;
  /** How many entries go into the database at once. */
  readonly batchMax?: number;
  /** Breaks it off between two batches. */
  readonly signal?: AbortSignal;
  /** Hears of entries that are in the database now; of some it may hear again, when it was broken off. */
  readonly onStored?: (entries: readonly LedgerEntry[]) => void;
}): Promise<Recovery> {
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
