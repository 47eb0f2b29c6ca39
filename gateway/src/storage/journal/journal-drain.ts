/**
 * What the journal needs from whatever moves its records into the database. Positions are the segment, the byte up to
 * which it may be read, and how many settled entries the journal has written up to there.
 */
export interface JournalDrain {
  /** More may be read. Called for every write, so it must cost next to nothing. */
  written(segment: number, end: number, settled: number): void;
  /** Passes the last position on at once instead of at the next notice. */
  hurry(): void;
  /** How many settled entries, of all the journal has counted, are in the database. */
  readonly stored: number;
  /** Called whenever `stored` grows. */
  onStored(listener: () => void): void;
  /** Moves what is left, within `timeoutMs`; the journal writes no more. True when nothing is left to move. */
  finish(timeoutMs: number): Promise<boolean>;
}
