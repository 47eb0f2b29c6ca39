import { closeSync, fstatSync, openSync } from "node:fs";
import { bounds, type GuardrailCheckEntry, type LedgerEntry, messageOf } from "#core/index.ts";
import { isRowFault, setAside } from "../disk/drain-set-aside.ts";
import { isMissing } from "../disk/files.ts";
import { putAside, removeSegment, segmentPath } from "../disk/journal-files.ts";
import { type JournalLine, journalLines, lineWindow } from "../journal/journal-reader.ts";
import {
  attemptIdIn,
  decodeCheck,
  entryOfRecord,
  isRecord,
  recordJson,
  recordTypes,
} from "../journal/journal-record.ts";
import { LedgerRecord, RecordHeads } from "../journal/record-text.ts";

/** The start of the first segment. */
export function placeOfFirst(segment: number): DrainPlace {
  return { segment, offset: 0, settled: 0 };
}

export interface DrainTarget {
  readonly segment: number;
  readonly end: number;
  /** Number of settled entries that the journal has written up to here. */
  readonly settled: number;
}

/** Start position of a drain: everything before it is in the database, and no attempt that began before it is open. */
export interface DrainPlace {
  readonly segment: number;
  readonly offset: number;
  /** Number of settled entries before it, as counted by the journal. */
  readonly settled: number;
}

/** The ledger's `insert` for records, and its `insertChecks`. */
export interface DrainStore {
  insert(records: readonly LedgerRecord[]): Promise<number>;
  insertChecks(checks: readonly GuardrailCheckEntry[]): Promise<void>;
}

/** Stores one kind of record. `entryOf`: the entry to set aside if the database refuses a record. */
interface StoreTarget<Item> {
  insert(items: readonly Item[]): Promise<unknown>;
  entryOf(item: Item): LedgerEntry | GuardrailCheckEntry;
}

interface DrainOptions {
  readonly directory: string;
  readonly from: DrainPlace;
  readonly store: DrainStore;
  /** Called with the number of settled entries of the journal that are in the database. */
  readonly onStored: (settled: number) => void;
  /** Called with a description of the problem; null: it is over. */
  readonly onProblem: (problem: string | null) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/** Target duration of a transaction, because other writers wait for it. */
const drainTransactionMs = 200;
const drainBatchMin = 100;
/** Number of keys, times models, for which texts of records are shared; about 1 KB each. */
const headsMax = 1_024;

/**
 * Follows the journal's files and puts each settled entry, and each check of a guardrail, into the database. The files are the queue:
 * memory holds open intents, one window and one batch, however far the database is behind.
 *
 * States of an attempt here:
 *   open     its intent was read; kept as JSON until it is settled
 *   settled  its record is in the batch
 *   stored   the batch is in the database, or the record was set aside because the database refuses it
 *
 * States of a segment:
 *   read      it is being read; the journal may still write to it
 *   kept      read to its end, but an attempt that began in it is open
 *   finished  everything in it is stored and nothing is open: the file is removed
 *   damaged   finished, but a line could not be read: the file is renamed and kept
 */
export class Drain {
  readonly #options: DrainOptions;
  readonly #window = lineWindow();
  readonly #heads = new RecordHeads(headsMax);
  readonly #open = new Map<string, { readonly json: string; readonly segment: number }>();
  /** Open intents of each segment that is still on disk. */
  readonly #openIn = new Map<number, number>();
  /** Segments with a line that could not be read; they are kept under another name. */
  readonly #damaged = new Set<number>();
  readonly #entryTarget: StoreTarget<LedgerRecord> = {
    insert: (records) => this.#options.store.insert(records),
    entryOf: ({ json }) => entryOfRecord(json),
  };
  readonly #checkTarget: StoreTarget<GuardrailCheckEntry> = {
    insert: (checks) => this.#options.store.insertChecks(checks),
    entryOf: (check) => check,
  };
  #segment: number;
  #offset: number;
  #file: number | null = null;
  #batch: LedgerRecord[] = [];
  #checks: GuardrailCheckEntry[] = [];
  /** The number of records that the database stores in drainTransactionMs, at most drainBatchMax. */
  #batchMax: number = bounds.drainBatchMax;
  #settledRead: number;
  #stopped = false;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#segment = options.from.segment;
    this.#offset = options.from.offset;
    this.#settledRead = options.from.settled;
  }

  get openIntents(): number {
    return this.#open.size;
  }

  /** After `advance`: where another drain could continue. null: this one holds state that another lacks. */
  get place(): DrainPlace | null {
    if (this.#open.size > 0 || this.#damaged.size > 0 || this.#batch.length + this.#checks.length > 0) return null;
    return { segment: this.#segment, offset: this.#offset, settled: this.#settledRead };
  }

  /** Reads and stores up to `target`. One call at a time; a lower target than before does nothing. */
  async advance(target: DrainTarget): Promise<void> {
    while (!this.#stopped && this.#segment <= target.segment) {
      const isLast = this.#segment === target.segment;
      await this.#readSegment(isLast ? target.end : Number.POSITIVE_INFINITY);
      if (isLast) break;
      this.#leaveSegment();
    }
    await this.#storeBatch();
    if (this.#stopped) return;
    this.#removeFinished();
    this.#settledRead = target.settled;
    this.#options.onStored(target.settled);
  }

  /** After the last `advance` of a journal that is closed: the last segment goes too when nothing in it is open. */
  end(): void {
    this.#openFile();
    this.#closeFile();
    if (this.#openIn.get(this.#segment) === 0) {
      this.#segment += 1;
      this.#removeFinished();
    }
  }

  /** Gives up a batch that is being retried. It stays in the files. */
  stop(): void {
    this.#stopped = true;
    this.#closeFile();
  }

  async #readSegment(end: number): Promise<void> {
    const file = this.#openFile();
    if (file === null) return;
    const to = end === Number.POSITIVE_INFINITY ? fstatSync(file).size : end;
    if (this.#offset >= to) return;
    for (const line of journalLines(file, this.#offset, to, this.#window)) {
      this.#take(line);
      // Records that were read stay in the batch if the store makes us wait, so the position in the file moves with them.
      this.#offset = line.nextOffset;
      if (this.#batch.length + this.#checks.length >= this.#batchMax) await this.#storeBatch();
      if (this.#stopped) return;
    }
  }

  #take({ bytes, start, end, offset }: JournalLine): void {
    const type = bytes[start + 9];
    // Checkpoints matter to recovery only.
    if (type === recordTypes.checkpoint) return;
    const json = isRecord(bytes, start, end) ? recordJson(bytes, start, end) : null;
    if (json !== null && type === recordTypes.intent) this.#begin(json);
    else if (json !== null && type === recordTypes.settle) this.#settle(json);
    else if (json !== null && type === recordTypes.refuse) {
      this.#settledRead += 1;
      this.#batch.push(new LedgerRecord(json, this.#heads));
    } else if (json !== null && type === recordTypes.check) {
      this.#settledRead += 1;
      this.#checks.push(decodeCheck(json));
    } else {
      this.#damaged.add(this.#segment);
      this.#options.onProblem(`${segmentPath("", this.#segment)}: the line at byte ${offset} is damaged`);
    }
  }

  #begin(json: string): void {
    this.#open.set(attemptIdIn(json), { json, segment: this.#segment });
    this.#count(this.#segment, 1);
  }

  #settle(json: string): void {
    this.#settledRead += 1;
    const attemptId = attemptIdIn(json);
    const begun = this.#open.get(attemptId);
    // After a restart of the drain, the intent of a settlement may be in a removed segment; then the entry is stored already. The opposite
    // case, an intent without its settlement, is stored, too, and keeps its segment until the next recovery.
    if (begun === undefined) return;
    this.#open.delete(attemptId);
    this.#count(begun.segment, -1);
    this.#batch.push(new LedgerRecord(`[${begun.json},${json}]`, this.#heads));
  }

  async #storeBatch(): Promise<void> {
    const batch = this.#batch;
    const checks = this.#checks;
    if (batch.length + checks.length === 0) return;
    this.#batch = [];
    this.#checks = [];
    if (checks.length > 0) await this.#store(checks, this.#checkTarget);
    if (batch.length > 0) await this.#store(batch, this.#entryTarget);
    if (this.#stopped) return;
    this.#removeFinished();
    this.#options.onStored(this.#settledRead);
    // The store may answer without a turn of the loop; orders to this drain arrive between batches.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Retries until the batch is stored, however long that takes. */
  async #store<Item>(items: readonly Item[], target: StoreTarget<Item>): Promise<void> {
    let waitMs: number = bounds.drainRetryMs;
    for (let tries = 0; !this.#stopped; tries++) {
      try {
        const startedAt = performance.now();
        await target.insert(items);
        this.#fitBatch(items.length, performance.now() - startedAt);
        if (tries > 0) this.#options.onProblem(null);
        return;
      } catch (error) {
        if (isRowFault(error) && (await this.#isolate(items, target, error))) return;
        this.#options.onProblem(`The database takes no entries: ${messageOf(error)}`);
      }
      await this.#options.wait(waitMs);
      waitMs = Math.min(waitMs * 2, bounds.drainRetryMsMax);
    }
  }

  #fitBatch(records: number, tookMs: number): void {
    const inTime = Math.floor((records * drainTransactionMs) / Math.max(1, tookMs));
    // The time of a small batch does not predict that of a large one.
    if (records < this.#batchMax && inTime >= records) return;
    this.#batchMax = Math.max(drainBatchMin, Math.min(bounds.drainBatchMax, this.#batchMax * 2, inTime));
  }

  /**
   * Halves a batch until only the row is left that the database rejects, and moves that row aside. Resolves to false if that is not
   * possible now.
   */
  async #isolate<Item>(items: readonly Item[], target: StoreTarget<Item>, error: unknown): Promise<boolean> {
    const [only] = items;
    if (items.length > 1 || only === undefined) {
      const middle = items.length >> 1;
      await this.#store(items.slice(0, middle), target);
      await this.#store(items.slice(middle), target);
      return true;
    }
    const entry = target.entryOf(only);
    try {
      setAside(this.#options.directory, entry, messageOf(error));
    } catch {
      return false;
    }
    const name = "attemptId" in entry ? `attempt ${entry.attemptId}` : `check ${entry.checkId}`;
    this.#options.onProblem(`The database refuses ${name}, now set aside: ${messageOf(error)}`);
    return true;
  }

  #count(segment: number, change: 1 | -1): void {
    this.#openIn.set(segment, (this.#openIn.get(segment) ?? 0) + change);
  }

  #openFile(): number | null {
    if (this.#file !== null) return this.#file;
    try {
      this.#file = openSync(segmentPath(this.#options.directory, this.#segment), "r");
    } catch (error) {
      // A restarted drain skips segments that were finished before.
      if (isMissing(error)) return null;
      throw error;
    }
    this.#openIn.set(this.#segment, this.#openIn.get(this.#segment) ?? 0);
    return this.#file;
  }

  #leaveSegment(): void {
    this.#closeFile();
    this.#segment += 1;
    this.#offset = 0;
  }

  #closeFile(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  /** Called only right after a batch was stored, when everything read so far is in the database. */
  #removeFinished(): void {
    const finished = [...this.#openIn].filter(([segment, open]) => segment < this.#segment && open === 0);
    // Newest first: a crash in between can leave an intent without its settlement, but its entry is stored already.
    for (const [segment] of finished.toReversed()) {
      if (this.#damaged.delete(segment)) putAside(this.#options.directory, segment);
      else removeSegment(this.#options.directory, segment);
      this.#openIn.delete(segment);
    }
  }
}
