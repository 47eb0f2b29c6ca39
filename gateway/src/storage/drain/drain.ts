import { closeSync, fstatSync, openSync } from "node:fs";
import { type LedgerColumn, type LedgerRow, ledgerTable, usageTable } from "@sluice/contract/words";
import { bounds, type KeptObject, messageOf } from "#core/index.ts";
import { isRowFault, setAside } from "../disk/drain-set-aside.ts";
import { isMissing } from "../disk/files.ts";
import { putAside, removeSegment, segmentPath } from "../disk/journal-files.ts";
import { type JournalLine, journalLines, lineWindow } from "../journal/journal-reader.ts";
import { isRecord, objectsPlace, parseRow, recordLetters } from "../journal/journal-record.ts";
import { entryOfValues, type LedgerValues, ledgerColumns, ledgerPlaces, tagsText } from "../ledger/ledger-columns.ts";
import { type ObjectRow, objectRows } from "../ledger/upstream-objects.ts";

/** The beginning of a journal's own files. */
export function placeOfFirst(segment: number): DrainPlace {
  return { segment, offset: 0, settled: 0 };
}

export interface DrainTarget {
  readonly segment: number;
  readonly end: number;
  /** Settled entries the journal has written up to here. */
  readonly settled: number;
}

/** Where a drain begins: everything before it is in the database, and no attempt begun before it is open. */
export interface DrainPlace {
  readonly segment: number;
  readonly offset: number;
  /** Settled entries before it, of the journal's count. */
  readonly settled: number;
}

/** The ledger's `insert`, of entries and of objects that upstreams keep, as their tables have them. */
export interface DrainStore {
  insert(entries: readonly LedgerValues[], objects: readonly ObjectRow[]): Promise<number>;
}

interface DrainOptions {
  readonly directory: string;
  readonly from: DrainPlace;
  readonly store: DrainStore;
  /** `settled` of the journal's count are in the database. */
  readonly onStored: (settled: number) => void;
  /** What goes wrong, in words; null when it goes well again. */
  readonly onProblem: (problem: string | null) => void;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * Follows the journal's files and puts each settled entry into the database. The files are the queue: memory holds open
 * intents, one window and one batch, however far the database is behind. A segment goes once everything settled in it
 * is in the database and no intent begun in it is open.
 */
export class Drain {
  readonly #options: DrainOptions;
  readonly #window = lineWindow();
  readonly #open = new Map<string, { readonly intent: RecordRow; readonly segment: number }>();
  /** Open intents of each segment that is still on disk. */
  readonly #openIn = new Map<number, number>();
  /** Segments with a line that could not be read; they are kept under another name. */
  readonly #damaged = new Set<number>();
  #segment: number;
  #offset: number;
  #file: number | null = null;
  #batch: LedgerValues[] = [];
  /** The objects of the entries in the batch that have any. */
  #objects = new Map<LedgerValues, readonly ObjectRow[]>();
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

  /** After `advance`: where another drain could go on. null: this one holds what another could not know. */
  get place(): DrainPlace | null {
    if (this.#open.size > 0 || this.#damaged.size > 0 || this.#batch.length > 0) return null;
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
      // What is read stays in the batch if the store makes us wait, so the place in the file moves with it.
      this.#offset = line.nextOffset;
      if (this.#batch.length >= bounds.drainBatchMax) await this.#storeBatch();
      if (this.#stopped) return;
    }
  }

  #take({ bytes, start, end, offset }: JournalLine): void {
    const letter = bytes[start + 9];
    // Checkpoints matter to recovery only.
    if (letter === recordLetters.checkpoint) return;
    const row = isRecord(bytes, start, end) ? (parseRow(bytes, start, end) as RecordRow) : null;
    if (row !== null && letter === recordLetters.intent) this.#begin(row);
    else if (row !== null && letter === recordLetters.settle) this.#settle(row);
    else if (row !== null && letter === recordLetters.refuse) this.#refuse(row);
    else {
      this.#damaged.add(this.#segment);
      this.#options.onProblem(`${segmentPath("", this.#segment)}: the line at byte ${offset} is damaged`);
    }
  }

  #begin(intent: RecordRow): void {
    this.#open.set(intent[0] as string, { intent, segment: this.#segment });
    this.#count(this.#segment, 1);
  }

  #settle(settlement: RecordRow): void {
    this.#settledRead += 1;
    const attemptId = settlement[0] as string;
    const begun = this.#open.get(attemptId);
    // Only a drain that was started again meets a settlement whose intent is in a segment that is gone: it is
    // stored. The other way round, an intent whose settlement is gone is stored too, and merely keeps its segment
    // until the next recovery, which offers an entry that the database has already.
    if (begun === undefined) return;
    this.#open.delete(attemptId);
    this.#count(begun.segment, -1);
    this.#add(drainedValues(begun.intent, settlement), settlement);
  }

  #refuse(row: RecordRow): void {
    this.#settledRead += 1;
    const [intent, settlement, calls] = row as readonly [RecordRow, RecordRow, number?];
    this.#add(drainedValues(intent, settlement, calls), settlement);
  }

  #add(entry: LedgerValues, settlement: RecordRow): void {
    this.#batch.push(entry);
    const objects = settlement[objectsPlace];
    if (objects != null) this.#objects.set(entry, objectRows(entry, objects as readonly KeptObject[]));
  }

  async #storeBatch(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    await this.#store(batch);
    this.#objects.clear();
    if (this.#stopped) return;
    this.#removeFinished();
    this.#options.onStored(this.#settledRead);
    // The store may answer without a turn of the loop; orders to this drain arrive between batches.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Until it is in, however long that takes. */
  async #store(entries: readonly LedgerValues[]): Promise<void> {
    let waitMs: number = bounds.drainRetryMs;
    for (let tries = 0; !this.#stopped; tries++) {
      try {
        await this.#options.store.insert(entries, this.#objectsOf(entries));
        if (tries > 0) this.#options.onProblem(null);
        return;
      } catch (error) {
        if (isRowFault(error) && (await this.#isolate(entries, error))) return;
        this.#options.onProblem(`The database takes no entries: ${messageOf(error)}`);
      }
      await this.#options.wait(waitMs);
      waitMs = Math.min(waitMs * 2, bounds.drainRetryMsMax);
    }
  }

  /**
   * Halves a batch until the row that the database refuses stands alone, and sets that one aside. False when that
   * cannot be done now.
   */
  async #isolate(entries: readonly LedgerValues[], error: unknown): Promise<boolean> {
    const [only] = entries;
    if (entries.length > 1 || only === undefined) {
      const middle = entries.length >> 1;
      await this.#store(entries.slice(0, middle));
      await this.#store(entries.slice(middle));
      return true;
    }
    try {
      setAside(this.#options.directory, entryOfValues(only), messageOf(error));
    } catch {
      return false;
    }
    this.#options.onProblem(
      `The database refuses attempt ${only[ledgerPlaces.attempt_id]}, now set aside: ${messageOf(error)}`,
    );
    return true;
  }

  #objectsOf(entries: readonly LedgerValues[]): readonly ObjectRow[] {
    return this.#objects.size === 0 ? none : entries.flatMap((entry) => this.#objects.get(entry) ?? none);
  }

  #count(segment: number, change: 1 | -1): void {
    this.#openIn.set(segment, (this.#openIn.get(segment) ?? 0) + change);
  }

  #openFile(): number | null {
    if (this.#file !== null) return this.#file;
    try {
      this.#file = openSync(segmentPath(this.#options.directory, this.#segment), "r");
    } catch (error) {
      // A drain that was started again passes over segments that were finished before.
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

  /** Only ever right after a batch was stored: everything read so far is in the database. */
  #removeFinished(): void {
    const finished = [...this.#openIn].filter(([segment, open]) => segment < this.#segment && open === 0);
    // Newest first: after a crash in between, an intent without its settlement is met, which insert knows already.
    for (const [segment] of finished.toReversed()) {
      if (this.#damaged.delete(segment)) putAside(this.#options.directory, segment);
      else removeSegment(this.#options.directory, segment);
      this.#openIn.delete(segment);
    }
  }
}

const none: readonly ObjectRow[] = [];

/** The array of an intent or a settlement, as journal-record.ts tells. */
export type RecordRow = readonly unknown[];

/**
 * The entry that an intent and its settlement make, straight from the journal's arrays to the order of the table's columns: no entry
 * is made on the way. The same as `valuesOf` of the joined entry.
 */
export function drainedValues(intent: RecordRow, settlement: RecordRow, calls = 1): LedgerValues {
  const values: (string | number | null)[] = new Array(ledgerColumns.length);
  for (let n = 0; n < ofIntent.length; n++) take(values, ofIntent[n] as Source, intent);
  for (let n = 0; n < ofSettlement.length; n++) take(values, ofSettlement[n] as Source, settlement);
  values[ledgerPlaces.calls] = calls;
  const usage = settlement[usagePlace] as readonly number[];
  // A file of the version before lacks the newest classes.
  for (let n = 0; n < usageTable.length; n++) values[ledgerPlaces.input_uncached + n] = usage[n] ?? 0;
  return values;
}

interface Source {
  /** In the table, and in the record. */
  readonly column: number;
  readonly place: number;
  readonly kind: LedgerColumn["kind"];
  /** What the column holds where the record has nothing. */
  readonly absent: string | number | null;
}

const columns: readonly LedgerColumn[] = ledgerTable.filter((row): row is LedgerColumn => row.kind !== "usage");
const ofIntent = sourcesIn("intent");
// Both begin with the attempt's id.
const ofSettlement = sourcesIn("settle").filter(({ place }) => place > 0);
const usagePlace = (ledgerTable as readonly LedgerRow[]).find(({ kind }) => kind === "usage")?.journal.settle ?? 0;

function sourcesIn(record: "intent" | "settle"): readonly Source[] {
  return columns.flatMap((row) => {
    const { column, kind, journal } = row;
    const absent = "absent" in row ? row.absent : null;
    const place = (journal as { readonly intent?: number; readonly settle?: number })[record];
    return place === undefined ? [] : [{ column: ledgerPlaces[column], place, kind, absent }];
  });
}

function take(values: (string | number | null)[], { column, place, kind, absent }: Source, row: RecordRow): void {
  const written = row[place];
  if (typeof written === "string" || typeof written === "number") values[column] = written;
  else if (kind === "flag") values[column] = written === true ? 1 : 0;
  else if (kind === "tags") values[column] = tagsText((written ?? {}) as Readonly<Record<string, string>>);
  else values[column] = written === null || written === undefined ? absent : JSON.stringify(written);
}
