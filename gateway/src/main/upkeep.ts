import { bounds, LastingFault, repeat, type Settings, sleep } from "#core/index.ts";
import type { Clock, HeldLease, Leadership, LedgerStore, Observer, UpstreamObjectStore } from "#ports/index.ts";
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

/** A clock that has gone so much further than time has passed is not believed until the next look. */
const pruneClockMs = 86_400_000;

/** PostgreSQL: how soon sums are looked for again when there were some. */
const foldMs = 1_000;

/** Starts what one process of an installation does at a time, beside the calls. */
export function startUpkeep(base: Base, { steady }: Governance, { explainer }: Calls): void {
  const { environment, control, ending, processes } = base;
  const { database, controlStore, ledgerStore, objectStore, facts } = control;
  const parts = { ...base, ledgerStore, leadership: processes.leadership };
  // Money and age are counted by the steady clock.
  const stopSums = keepLedger({ ...parts, database, clock: steady });
  const stopExport = startLedgerExport({ ...parts, clock: steady });
  const stopRefreshing = refreshPriceList(environment.priceList, { ...parts, controlStore });
  const stopPruning = pruneDaily({
    ...{ ...parts, objectStore, explainer, clock: steady },
    pruneAudit: (beforeMs) => pruneAudit(database, beforeMs),
  });
  const entriesAfter: AuditStreamOptions["entriesAfter"] = (from, limit) => auditEntriesAfter(database, from, limit);
  const stopAudit = startAuditStream({ ...parts, facts, entriesAfter });
  ending.defer("audit entries for the log", stopAudit);
  ending.defer("price list", stopRefreshing);
  ending.defer("copies of the ledger", stopExport);
  ending.defer("sums of the ledger", stopSums);
  ending.defer("removal of what is old", () => void stopPruning());
}

/** Does it until it is stopped, which resolves when the work at hand has ended. SQLite needs none of it: days are summed by the drain. */
export function keepLedger(options: LedgerKeeping): () => Promise<void> {
  if (options.database.flavour.name === "sqlite") return async () => undefined;
  const lead = options.leadership.lead("ledger", ({ signal }) => ledgerUpkeep(options, signal));
  return () => lead.stop();
}

interface LedgerKeeping {
  readonly ledgerStore: Pick<LedgerStore, "fold" | "makeMonths" | "sumDay">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly database: Pick<Database, "flavour">;
  readonly leadership: Pick<Leadership, "lead">;
}

/**
 * What a ledger on PostgreSQL needs from one process at a time, until the signal aborts: sums are folded every second, months are made
 * ahead every hour, days that are over are summed one after the other. Nothing is wrong while nobody does it, and nothing when two do:
 * sums are read whole all the same, and entries without a month have a place.
 */
async function ledgerUpkeep({ ledgerStore, clock, observer }: LedgerKeeping, signal: AbortSignal): Promise<void> {
  let monthsAt = Number.NEGATIVE_INFINITY;
  const faultOf = (fault: string, over: string) =>
    new LastingFault({ clock, observer, level: "warn", fault: `${fault} It is tried again.`, over });
  const months = faultOf("The ledger's next months could not be made.", "The ledger's next months are made.");
  const sums = faultOf("The sums of usage could not be folded.", "The sums of usage are folded again.");
  const days = faultOf("The sums of a day could not be made.", "The sums of days are made again.");
  let daysDueAt = clock.monotonic() + bounds.summedDayFirstMs;
  while (!signal.aborted) {
    if (clock.monotonic() - monthsAt >= bounds.pruneMs) {
      monthsAt = clock.monotonic();
      await attempted(months, () => ledgerStore.makeMonths(clock.now()));
    }
    const folded = await attempted(sums, () => ledgerStore.fold());
    if (folded >= bounds.foldRows) continue;
    if (clock.monotonic() >= daysDueAt) {
      const summed = await attempted(days, () => ledgerStore.sumDay(clock.now()));
      daysDueAt = clock.monotonic() + (summed > 0 ? bounds.summedDayPauseMs : bounds.summedDayIdleMs);
    }
    await sleep(clock, folded > 0 ? foldMs : bounds.foldIdleMs, signal);
  }
}

async function attempted(fault: LastingFault, act: () => Promise<number>): Promise<number> {
  try {
    const done = await act();
    fault.passed();
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
  /** Resolves to how many entries of the audit log went. */
  readonly pruneAudit: (beforeMs: number) => Promise<number>;
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly observer: Observer;
  readonly leadership: Pick<Leadership, "once">;
}

/**
 * Removes ledger entries, explanations, captures and audit entries that are too old, and expired upstream objects, now and then, in one process at a time. Rollups stay.
 * Returns its own end.
 */
export function pruneDaily(options: PruningOptions): () => Promise<void> {
  const { clock, ledgerStore, objectStore, explainer, pruneAudit, configSnapshot, observer, leadership } = options;
  let seen = { now: clock.now(), passedMs: clock.monotonic() };
  /** By a wrong clock everything is too old, and what is removed does not come back when the clock is mended. */
  const isAhead = (): boolean => {
    const before = seen;
    seen = { now: clock.now(), passedMs: clock.monotonic() };
    return seen.now - before.now - (seen.passedMs - before.passedMs) > pruneClockMs;
  };
  const prune = async (): Promise<void> => {
    if (isAhead()) {
      observer.log("warn", "The clock has jumped ahead; what is old by it stays until the next look, in an hour.");
      return;
    }
    // What another process removes now is removed; a database that cannot be asked has nothing removed either.
    await leadership.once("prune", removeOld);
  };
  const removeOld = async ({ signal }: Pick<HeldLease, "signal">): Promise<void> => {
    const now = clock.now();
    const { settings } = configSnapshot.current;
    await remove("ledger entries", () => ledgerStore.prune(now - settings["ledger.retention_days"] * dayMs));
    if (signal.aborted) return;
    await remove("upstream objects", () => objectStore.prune(now));
    if (signal.aborted) return;
    await remove("explanations and captures", () => explainer.prune(explainedAges(settings, now)));
    if (signal.aborted) return;
    await remove("audit entries", () => pruneAudit(now - settings["audit.retention_days"] * dayMs));
  };
  const remove = async (what: string, act: () => Promise<number>): Promise<void> => {
    try {
      const removed = await act();
      if (removed > 0) observer.log("info", `Old ${what} were removed.`, { removed });
    } catch (thrown) {
      observer.log("warn", `Old ${what} could not be removed; it is tried again later.`, { error: thrown });
    }
  };
  return repeat(clock, bounds.pruneMs, prune);
}

const dayMs = 86_400_000;

/** What is too old now. An explanation never outlives its request's entries. */
export function explainedAges(settings: Settings, now: number): Parameters<ExplainQueue["prune"]>[0] {
  const explanationDays = Math.min(settings["explanations.retention_days"], settings["ledger.retention_days"]);
  return {
    explanationsBefore: now - explanationDays * dayMs,
    capturesBefore: now - settings["captures.retention_days"] * dayMs,
    now,
  };
}

/** How often new audit entries are looked for, how many are read at once, and how much of a change goes into a line, as JSON. */
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

/** Which entry was written to the log last. */
const markName = "audit.logged";

/**
 * Writes each entry of the audit log to the log, and so to the collector, whichever process made it: one process of the
 * installation reads them in their order. Entries may be written twice when that process ends between writing and marking,
 * and never left out; those of the first start are one line. Without a mark it begins with those of the last day. Returns its
 * own end.
 */
export function startAuditStream(options: AuditStreamOptions): () => Promise<void> {
  const { clock, observer, leadership } = options;
  const fault = new LastingFault({
    ...{ clock, observer, level: "warn" },
    fault: "The audit log could not be read for the log; it is tried again, and no entry is left out.",
    over: "The audit log is written to the log again.",
  });
  const lead = leadership.lead("audit-stream", async ({ signal }) => {
    while (!signal.aborted) {
      try {
        await writeNew(options, signal);
        fault.passed();
      } catch (thrown) {
        if (signal.aborted) return;
        fault.failed({ error: thrown });
      }
      await sleep(clock, auditStreamMs, signal);
    }
  });
  return () => lead.stop();
}

async function writeNew({ entriesAfter, facts, clock, observer }: AuditStreamOptions, signal: AbortSignal) {
  const mark = await facts.read(markName);
  let from = mark === null ? { sinceMs: clock.now() - dayMs } : { seq: Number(mark) };
  for (;;) {
    const entries = await entriesAfter(from, auditStreamRows);
    const last = entries.at(-1);
    if (last === undefined || signal.aborted) return;
    const own = entries.filter(({ actor }) => actor === firstStartActor);
    const lastOwn = own.at(-1);
    if (lastOwn !== undefined) observer.log("info", "audit", sumOf(own, lastOwn));
    for (const entry of entries) if (entry.actor !== firstStartActor) observer.log("info", "audit", fieldsOf(entry));
    from = { seq: last.seq };
    await facts.write(markName, String(last.seq));
  }
}

/** Sums up the objects that a new installation creates by itself, so that they take one line. */
function sumOf(entries: readonly TailedAuditEntry[], { seq, at, actor }: TailedAuditEntry) {
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
