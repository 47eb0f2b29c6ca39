import { createHash } from "node:crypto";
import type { LedgerExportFacts } from "#admin/index.ts";
import type { Environment } from "#config/index.ts";
import { bounds, LastingFault, type LedgerExportPlace } from "#core/index.ts";
import type { Clock, Leadership, Observer, Transport } from "#ports/index.ts";
import {
  createBucketObjects,
  createExportedHours,
  createLedgerReader,
  type ExportedHour,
  type ExportedHours,
  type LedgerReader,
  type ObjectStore,
} from "#storage/index.ts";
import type { Control } from "./control.ts";
import {
  copyFocusDays,
  currentFocusCatalogue,
  type FocusCopies,
  firstMissingDay,
  nextFocusDay,
  openFocus,
} from "./focus-copies.ts";
import type { Base } from "./open-base.ts";

/** When the first copy is made after a start, and how often later ones are. */
const exportFirstMs = 20_000;
const exportIntervalMs = 300_000;

interface LedgerExportOptions {
  readonly place: () => LedgerExportPlace | null;
  readonly retentionDays: () => number;
  /** Throws if its access keys are not configured. */
  readonly storeOf: (place: LedgerExportPlace) => ObjectStore;
  readonly hours: ExportedHours;
  readonly focus: Pick<FocusCopies, "focus" | "catalogue">;
  readonly reader: LedgerReader;
  readonly leadership: Pick<Leadership, "once">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

interface CopyTarget {
  readonly destination: string;
  readonly store: ObjectStore;
  readonly signal: AbortSignal;
}

/**
 * Copies the ledger to a bucket, one hour after the other, by one process at a time. An hour is marked when all of its objects are
 * written, so an interrupted one is copied again under the same names. Hours that received late entries are copied again too.
 */
export class LedgerExport {
  readonly counts = { hours: 0, entries: 0, failures: 0 };
  readonly #options: LedgerExportOptions;
  readonly #fault: LastingFault;
  readonly #stopping = new AbortController();
  /** The first hour not yet copied; null if no bucket is set. */
  #next: number | null = null;
  /** The first day of FOCUS rows not yet copied; null if none are copied. */
  #nextDay: number | null = null;
  #copying: Promise<void> = Promise.resolve();
  #cancelTimer: () => void = () => {};

  constructor(options: LedgerExportOptions) {
    this.#options = options;
    const { clock, observer } = options;
    this.#fault = new LastingFault({
      clock,
      observer,
      level: "error",
      fault: "failed to copy the ledger to its bucket; retrying",
      over: "copies of the ledger to its bucket succeed again",
    });
  }

  /** Seconds since the start of the first hour not yet copied; 0 if no bucket is set. */
  get lagSeconds(): number {
    return this.#secondsSince(this.#next);
  }

  /** Seconds since the start of the first day of FOCUS rows not yet copied; 0 if none are copied. */
  get focusLagSeconds(): number {
    return this.#secondsSince(this.#nextDay);
  }

  #secondsSince(at: number | null): number {
    return at === null ? 0 : Math.max(0, (this.#options.clock.now() - at) / 1_000);
  }

  start(): void {
    this.#schedule(exportFirstMs);
  }

  /** Resolves when the current copy has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer();
    await this.#options.reader.rest();
    await this.#copying;
  }

  /** Copies the hours that are due. Never rejects. */
  async copy(): Promise<void> {
    const place = this.#options.place();
    if (place === null) {
      this.#next = null;
      this.#nextDay = null;
      return;
    }
    try {
      if (place.formats.includes("jsonl")) await this.#copyDue(place);
      else this.#next = null;
      if (place.formats.includes("focus")) await this.#copyDays(place);
      else this.#nextDay = null;
      this.#fault.succeeded();
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      this.counts.failures++;
      this.#fault.failed({ bucket: place.bucket, error: thrown });
    }
  }

  #schedule(ms: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      this.#copying = this.copy().finally(() => this.#schedule(exportIntervalMs));
    });
  }

  async #copyDue(place: LedgerExportPlace): Promise<void> {
    const { hours, leadership, storeOf, reader, clock } = this.#options;
    const destination = destinationOf(place);
    this.#next = await hours.next(destination, this.#exportableSince(), clock.now());
    const store = storeOf(place);
    const mayBeLate = await hours.toCheck(destination, clock.now(), this.#exportableSince());
    if (!this.#isDue() && mayBeLate.length === 0) return;
    await leadership.once("ledger-export", async (lease) => {
      const signal = AbortSignal.any([lease.signal, this.#stopping.signal]);
      try {
        // Another process may have copied some in the meantime.
        this.#next = await hours.next(destination, this.#exportableSince(), clock.now());
        for (; this.#isDue() && !signal.aborted; this.#next = (this.#next ?? 0) + hourMs) {
          await this.#copyHour(this.#next ?? 0, { destination, store, signal });
        }
        if (!signal.aborted) await this.#copyLate(mayBeLate, { destination, store, signal });
      } finally {
        await reader.rest();
      }
    });
  }

  /** FOCUS rows of closed days. */
  async #copyDays(place: LedgerExportPlace): Promise<void> {
    const { leadership, storeOf, hours, clock, focus } = this.#options;
    const destination = destinationOf(place);
    const copies = { ...focus, hours, clock };
    this.#nextDay = await firstMissingDay(copies, destination);
    if ((await nextFocusDay(copies, destination)) === null) return;
    const store = storeOf(place);
    await leadership.once("focus-export", async (lease) => {
      const signal = AbortSignal.any([lease.signal, this.#stopping.signal]);
      await copyFocusDays(copies, { destination, store, signal });
    });
    this.#nextDay = await firstMissingDay(copies, destination);
  }

  /** Long streams, videos and processes that were down add entries to past hours. */
  async #copyLate(hours: readonly ExportedHour[], target: CopyTarget): Promise<void> {
    if (hours.length === 0) return;
    const { reader, clock } = this.#options;
    const counted = await reader.counted(hours.map(({ hour }) => hour));
    const isLate = ({ entries }: ExportedHour, index: number): boolean => (counted[index] ?? 0) > entries;
    const unchanged = hours.filter((hour, index) => !isLate(hour, index)).map(({ hour }) => hour);
    await this.#options.hours.checked(target.destination, unchanged, clock.now());
    for (const { hour } of hours.filter(isLate)) {
      if (target.signal.aborted) return;
      await this.#copyHour(hour, target);
    }
  }

  async #copyHour(hour: number, { destination, store, signal }: CopyTarget): Promise<void> {
    const { reader, hours, clock } = this.#options;
    const folder = folderOf(hour);
    const parts: Readonly<Record<string, unknown>>[] = [];
    let entries = 0;
    let cost = 0n;
    for (let from: string | null = null, isFirst = true; isFirst || from !== null; isFirst = false) {
      const part: Awaited<ReturnType<LedgerReader["part"]>> = await reader.part(hour, from);
      signal.throwIfAborted();
      from = part.next;
      if (part.entries === 0) break;
      const object = `part-${String(parts.length).padStart(5, "0")}.jsonl.gz`;
      await store.put(`${folder}/${object}`, part.bytes, part.sha256, signal);
      parts.push({ object, entries: part.entries, bytes: part.bytes.length, sha256: part.sha256 });
      entries += part.entries;
      cost += BigInt(part.costNanoUsd);
    }
    const manifest = { hour: new Date(hour).toISOString(), entries, cost_nano_usd: String(cost), parts };
    const bytes = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
    await store.put(`${folder}/_manifest.json`, bytes, createHash("sha256").update(bytes).digest("hex"), signal);
    signal.throwIfAborted();
    await hours.mark(destination, hour, entries, clock.now());
    this.counts.hours++;
    this.counts.entries += entries;
  }

  #isDue(): boolean {
    return this.#next !== null && this.#next + hourMs + bounds.exportSettleMs <= this.#options.clock.now();
  }

  /** Older entries are being deleted, so a new copy would be incomplete. */
  #exportableSince(): number {
    const days = this.#options.retentionDays();
    return this.#options.clock.now() - Math.max(days - 1, days / 2) * dayMs;
  }
}

/** `date=2026-11-23/hour=07`, a common format of partitions. */
function folderOf(hour: number): string {
  const [date = "", time = ""] = new Date(hour).toISOString().split("T");
  return `date=${date}/hour=${time.slice(0, 2)}`;
}

function destinationOf({ endpoint, region, bucket, prefix }: LedgerExportPlace): string {
  return `${endpoint ?? region} ${bucket}/${prefix}`;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type ExportParts = Pick<
  Base,
  "environment" | "control" | "configSnapshot" | "transport" | "metrics" | "clock" | "observer" | "ending"
> &
  Pick<LedgerExportOptions, "leadership">;

export function ledgerExportFacts(
  { ledgerExportKeys, bucket }: Pick<Environment, "ledgerExportKeys" | "bucket">,
  { database, clock }: Pick<Control, "database" | "clock">,
  place: () => LedgerExportPlace | null,
): LedgerExportFacts {
  const hours = createExportedHours(database);
  return {
    keys: ledgerExportKeys !== null ? "own" : bucket !== null ? "blobs" : null,
    copiedUntil: async () => {
      const at = place();
      return at === null ? null : await hours.copiedUntil(destinationOf(at), clock.now());
    },
  };
}

/** Starts copying if the settings name a bucket. Returns a function that stops it. */
export function startLedgerExport(parts: ExportParts): () => Promise<void> {
  const { environment, control, configSnapshot, metrics, clock, ending } = parts;
  const exported = new LedgerExport({
    ...parts,
    place: () => configSnapshot.current.settings["ledger.export"],
    retentionDays: () => configSnapshot.current.settings["ledger.retention_days"],
    storeOf: (place) => openLedgerObjects(place, environment, parts),
    hours: createExportedHours(control.database),
    focus: { focus: openFocus(control, ending), catalogue: () => currentFocusCatalogue(control) },
    reader: createLedgerReader(control.place, clock),
  });
  metrics.numbers({
    sluice_ledger_export_lag_seconds: () => exported.lagSeconds,
    sluice_focus_export_lag_seconds: () => exported.focusLagSeconds,
  });
  metrics.numbers({
    sluice_ledger_export_copies_total: () => exported.counts.hours,
    sluice_ledger_export_entries_total: () => exported.counts.entries,
    sluice_ledger_export_failures_total: () => exported.counts.failures,
  });
  exported.start();
  return () => exported.stop();
}

/** Throws if its access keys are not configured. */
export function openLedgerObjects(
  { bucket, prefix, region, endpoint }: LedgerExportPlace,
  { ledgerExportKeys, bucket: blobs }: Pick<Environment, "ledgerExportKeys" | "bucket">,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
): ObjectStore {
  const keys = ledgerExportKeys ?? blobs;
  if (keys === null) throw new Error("SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID and its secret are not set");
  return createBucketObjects({
    ...{ bucket, prefix, region, transport, clock },
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey.reveal(),
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    // The endpoint may be in a private network.
    allowPrivateNetwork: endpoint !== null,
  });
}
