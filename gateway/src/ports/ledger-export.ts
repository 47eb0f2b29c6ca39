/** Which hours of the ledger were copied to a bucket. Hours are named by their beginning in Unix milliseconds. */
export interface ExportedHours {
  /** The end of the last hour that was copied; null: none was. What was copied while the clock was ahead of `now` does not count. */
  copiedUntil(destination: string, now: number): Promise<number | null>;
  /**
   * The hour after the last that was copied; where none was, that of the first entry since `sinceMs`; null: there is none. Of hours
   * before `sinceMs`, in which entries are being removed, only those from the first on that still has any.
   */
  next(destination: string, sinceMs: number, now: number): Promise<number | null>;
  /** Hours since `sinceMs` that it is time to compare again, with the entries that their copy has. */
  toCheck(destination: string, now: number, sinceMs: number): Promise<readonly ExportedHour[]>;
  /** The hour was copied, with so many entries. */
  mark(destination: string, hour: number, entries: number, now: number): Promise<void>;
  /** The copies of these hours have all that the ledger has. */
  checked(destination: string, hours: readonly number[], now: number): Promise<void>;
}

export interface ExportedHour {
  readonly hour: number;
  readonly entries: number;
}

/** A piece of an hour's copy: JSON Lines in gzip, oldest entry first. */
export interface ExportedPart {
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly entries: number;
  /** As text: sums of money may be more than a number holds. */
  readonly costNanoUsd: string;
  /** Where the next one begins; null: this is the last. */
  readonly next: string | null;
}

/** Reads the ledger for its copies, beside the event loop. */
export interface LedgerReader {
  /** How many entries began in each of these hours. */
  counted(hours: readonly number[]): Promise<readonly number[]>;
  /** A piece of an hour, from its beginning (null) or where the one before ended. */
  part(hour: number, from: string | null): Promise<ExportedPart>;
  /** Ends its thread until it is asked again. */
  rest(): Promise<void>;
}

/** Where objects are put, under names of their own. The same name again replaces what was there. */
export interface ObjectStore {
  put(name: string, bytes: Uint8Array, sha256: string, signal: AbortSignal): Promise<void>;
}
