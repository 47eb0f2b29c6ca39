import { bounds, LastingFault, repeat, type Settings, sleep } from "#core/index.ts";
import { createAdjustments } from "#ledger/index.ts";
import type { ActiveLease, Clock, Leadership, LedgerStore, Observer, UpstreamObjectStore } from "#ports/index.ts";
import { StorageFees } from "#relay/index.ts";
import {
  auditEntriesAfter,
  type Database,
  type ExplainQueue,
  pruneAudit,
  type SharedFacts,
  type TailedAuditEntry,
} from "#storage/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import { firstStartActor } from "./first-start.ts";
import { startLedgerExport } from "./ledger-export.ts";
import type { Base } from "./open-base.ts";
import type { Calls } from "./open-calls.ts";
import type { Governance } from "./open-governance.ts";
import { refreshPriceList } from "./price-list.ts";

/** Nothing is pruned if the wall clock advanced by so much more than the monotonic clock. */
const pruneClockMs = 86_400_000;

/** PostgreSQL: pause between two steps of summing while there is work. */
const foldMs = 1_000;

/** How often it is checked whether the storage of the day is charged, and the fact with the last such day. */
const storageFeesMs = 900_000;
const storageMarkName = "storage_fees.day";

/** Starts the background work that one process of an installation does at a time. */
export function startUpkeep(base: Base, { steady, admission }: Governance, calls: Calls): void {
  const { explainer } = calls;
  const { environment, control, ending, processes } = base;
  const { database, controlStore, ledgerStore, objectStore, facts } = control;
  const parts = { ...base, ledgerStore, leadership: processes.leadership };
  // The steady clock is for money and ages.
  const stopSums = keepLedger({ ...parts, database, clock: steady });
  const stopExport = startLedgerExport({ ...parts, clock: steady });
  const stopPriceList = refreshPriceList(environment.priceList, { ...parts, controlStore });
  const stopPruning = pruneDaily({
    ...{ ...parts, objectStore, explainer, clock: steady },
    pruneAudit: (beforeMs) => pruneAudit(database, beforeMs),
  });
  const entriesAfter: AuditStreamOptions["entriesAfter"] = (from, limit) => auditEntriesAfter(database, from, limit);
  const stopAudit = startAuditStream({ ...parts, facts, entriesAfter });
  const fees = new StorageFees({
    ...{ ...base, objectStore, clock: steady, providerClient: calls.providerClient, sharesAccount: () => true },
    configSnapshot: () => base.configSnapshot.current,
    adjustments: createAdjustments({ store: ledgerStore, onBooked: (entries) => admission.storedElsewhere(entries) }),
    keyById: (id) => controlStore.keyById(id),
    readMark: () => facts.read(storageMarkName),
    writeMark: (day) => facts.write(storageMarkName, day),
  });
  const stopping = new AbortController();
  const chargeStorage = () =>
    processes.leadership.once("storage-fees", (lease) => fees.run(AbortSignal.any([lease.signal, stopping.signal])));
  const stopFees = repeat(steady, storageFeesMs, chargeStorage);
  ending.defer("storage fees", () => {
    stopping.abort();
    return stopFees();
  });
  ending.defer("audit entries for the log", stopAudit);
  ending.defer("price list", stopPriceList);
  ending.defer("copies of the ledger", stopExport);
  ending.defer("sums of the ledger", stopSums);
  ending.defer("pruning", () => void stopPruning());
}

/** Returns a function that stops the work. SQLite does not need it, because the drain sums days there. */
export function keepLedger(options: LedgerUpkeepOptions): () => Promise<void> {
  if (options.database.flavour.name === "sqlite") return async () => undefined;
  const lead = options.leadership.lead("ledger", ({ signal }) => ledgerUpkeep(options, signal));
  return () => lead.stop();
}

interface LedgerUpkeepOptions {
  readonly ledgerStore: Pick<LedgerStore, "fold" | "createPartitions" | "sumDay" | "sumHours">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly database: Pick<Database, "flavour">;
  readonly leadership: Pick<Leadership, "lead">;
}

/**
 * Background work of a ledger on PostgreSQL: folds sums every second, creates partitions for coming months every hour, and sums finished
 * days and hours. The ledger stays correct if no process does it, or two do.
 */
async function ledgerUpkeep({ ledgerStore, clock, observer }: LedgerUpkeepOptions, signal: AbortSignal): Promise<void> {
  let monthsAt = Number.NEGATIVE_INFINITY;
  const faultOf = (work: string) =>
    new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: `failed to ${work}; retrying`,
      over: `recovered: ${work}`,
    });
  const months = faultOf("create the ledger's partitions");
  const sums = faultOf("fold sums of usage");
  const days = faultOf("sum a day of the ledger");
  let daysDueAt = clock.monotonic() + bounds.summedDayFirstMs;
  while (!signal.aborted) {
    if (clock.monotonic() - monthsAt >= bounds.pruneMs) {
      monthsAt = clock.monotonic();
      await attempted(months, () => ledgerStore.createPartitions(clock.now()));
    }
    const folded = await attempted(sums, () => ledgerStore.fold());
    if (folded >= bounds.foldRows) continue;
    if (clock.monotonic() >= daysDueAt) {
      const summed =
        (await attempted(days, () => ledgerStore.sumDay(clock.now()))) +
        (await attempted(days, () => ledgerStore.sumHours(clock.now())));
      daysDueAt = clock.monotonic() + (summed > 0 ? bounds.summedDayPauseMs : bounds.summedDayIdleMs);
    }
    await sleep(clock, folded > 0 ? foldMs : bounds.foldIdleMs, signal);
  }
}

async function attempted(fault: LastingFault, act: () => Promise<number>): Promise<number> {
  try {
    const done = await act();
    fault.succeeded();
    return done;
  } catch (thrown) {
    fault.failed({ error: thrown });
    return 0;
  }
}

interface PruningOptions {
  readonly clock: Clock;
  readonly ledgerStore: LedgerStore;
  readonly objectStore: Pick<UpstreamObjectStore, "prune">;
  readonly explainer: Pick<ExplainQueue, "prune">;
  /** Resolves to the number of deleted entries. */
  readonly pruneAudit: (beforeMs: number) => Promise<number>;
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly observer: Observer;
  readonly leadership: Pick<Leadership, "once">;
}

/**
 * Deletes old ledger entries, explanations, captures and audit entries, and expired upstream objects, in one process at a time. Rollups
 * are kept. Returns a function that stops it.
 */
export function pruneDaily(options: PruningOptions): () => Promise<void> {
  const { clock, ledgerStore, objectStore, explainer, pruneAudit, configSnapshot, observer, leadership } = options;
  let last = { now: clock.now(), monotonicMs: clock.monotonic() };
  /** With a wrong clock everything would be too old, and deleted rows do not come back. */
  const hasJumped = (): boolean => {
    const before = last;
    last = { now: clock.now(), monotonicMs: clock.monotonic() };
    return last.now - before.now - (last.monotonicMs - before.monotonicMs) > pruneClockMs;
  };
  const prune = async (): Promise<void> => {
    if (hasJumped()) {
      observer.log("warn", "clock jumped ahead; skipping pruning until the next run");
      return;
    }
    await leadership.once("prune", removeOld);
  };
  const removeOld = async ({ signal }: Pick<ActiveLease, "signal">): Promise<void> => {
    const now = clock.now();
    const { settings } = configSnapshot.current;
    const steps: readonly (readonly [what: string, remove: () => Promise<number>])[] = [
      ["ledger entries", () => ledgerStore.prune(now - settings["ledger.retention_days"] * dayMs)],
      ["upstream objects", () => objectStore.prune(now)],
      ["explanations and captures", () => explainer.prune(explainedAges(settings, now))],
      ["audit entries", () => pruneAudit(now - settings["audit.retention_days"] * dayMs)],
    ];
    for (const [what, remove] of steps) {
      if (signal.aborted) return;
      try {
        const removed = await remove();
        if (removed > 0) observer.log("info", `deleted old ${what}`, { removed });
      } catch (thrown) {
        observer.log("warn", `failed to delete old ${what}; retrying later`, { error: thrown });
      }
    }
  };
  return repeat(clock, bounds.pruneMs, prune);
}

const dayMs = 86_400_000;

/** Explanations are never kept longer than ledger entries. */
export function explainedAges(settings: Settings, now: number): Parameters<ExplainQueue["prune"]>[0] {
  const explanationDays = Math.min(settings["explanations.retention_days"], settings["ledger.retention_days"]);
  return {
    explanationsBefore: now - explanationDays * dayMs,
    capturesBefore: now - settings["captures.retention_days"] * dayMs,
    now,
  };
}

/** How often new audit entries are read, how many at once, and the longest change in a line, as JSON. */
const auditStreamMs = 2_000;
const auditStreamRows = 200;
const auditStreamChangeMax = 16 * 1024;

export interface AuditStreamOptions {
  readonly entriesAfter: (
    from: { readonly seq: number } | { readonly sinceMs: number },
    limit: number,
  ) => Promise<readonly TailedAuditEntry[]>;
  readonly facts: SharedFacts;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly leadership: Pick<Leadership, "lead">;
}

/** Fact that holds the last entry written to the log. */
const markName = "audit.logged";

/**
 * Writes each entry of the audit log to the log, and so to the collector. One process of the installation reads them in their order. If
 * it ends between writing and marking, entries are written twice, but none is skipped. Without a mark it starts with the last day.
 * Returns a function that stops it.
 */
export function startAuditStream(options: AuditStreamOptions): () => Promise<void> {
  const { clock, observer, leadership } = options;
  const fault = new LastingFault({
    ...{ clock, observer, level: "warn" },
    fault: "failed to copy audit entries to the log; retrying",
    over: "audit entries are copied to the log again",
  });
  const lead = leadership.lead("audit-stream", async ({ signal }) => {
    while (!signal.aborted) {
      try {
        await copyNewEntries(options, signal);
        fault.succeeded();
      } catch (thrown) {
        if (signal.aborted) return;
        fault.failed({ error: thrown });
      }
      await sleep(clock, auditStreamMs, signal);
    }
  });
  return () => lead.stop();
}

async function copyNewEntries({ entriesAfter, facts, clock, observer }: AuditStreamOptions, signal: AbortSignal) {
  const mark = await facts.read(markName);
  let from = mark === null ? { sinceMs: clock.now() - dayMs } : { seq: Number(mark) };
  for (;;) {
    const entries = await entriesAfter(from, auditStreamRows);
    const last = entries.at(-1);
    if (last === undefined || signal.aborted) return;
    const ofFirstStart = entries.filter(({ actor }) => actor === firstStartActor);
    const lastOfFirstStart = ofFirstStart.at(-1);
    if (lastOfFirstStart !== undefined) observer.log("info", "audit", summaryOf(ofFirstStart, lastOfFirstStart));
    for (const entry of entries) if (entry.actor !== firstStartActor) observer.log("info", "audit", fieldsOf(entry));
    from = { seq: last.seq };
    await facts.write(markName, String(last.seq));
  }
}

/** One line for all objects that a new installation creates. */
function summaryOf(entries: readonly TailedAuditEntry[], { seq, at, actor }: TailedAuditEntry) {
  const objects = [...new Set(entries.map(({ object }) => object))];
  return { event: "audit", auditId: seq, at: new Date(at).toISOString(), actor, action: "create", objects };
}

function fieldsOf({ seq, at, before, after, ...entry }: TailedAuditEntry): Readonly<Record<string, unknown>> {
  const isLong = (before?.length ?? 0) + (after?.length ?? 0) > auditStreamChangeMax;
  return {
    event: "audit",
    auditId: seq,
    at: new Date(at).toISOString(),
    ...entry,
    ...(isLong ? { truncated: true } : { before: parsed(before), after: parsed(after) }),
  };
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
