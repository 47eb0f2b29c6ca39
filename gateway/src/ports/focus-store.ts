import type { PriceTable } from "#core/index.ts";

/** A day (UTC) with final FOCUS rows. Times are Unix milliseconds. */
export interface FocusDay {
  /** Its start. */
  readonly day: number;
  readonly closedAt: number;
  readonly rows: number;
  readonly costNanoUsd: bigint;
  /** SHA-256 of its rows, lower-case hex. */
  readonly digest: string;
}

/** Some rows of a closed day, of one workspace. */
export interface FocusPart {
  /** Its place in the day. */
  readonly seq: number;
  readonly rows: number;
  /** CSV lines without a header. */
  readonly text: string;
  /** The same, gzipped. Gzipped parts may be appended to each other. */
  readonly gzip: Uint8Array;
}

/** Names and list prices of the moment at which a day is closed. */
export interface FocusCatalogue {
  /** Vendors by provider id. */
  readonly vendors: Readonly<Record<string, string>>;
  /** Publishers by model. */
  readonly publishers: Readonly<Record<string, string>>;
  /** Prices of the price list, by `focusListKey`. */
  readonly listPrices: Readonly<Record<string, PriceTable>>;
}

export function focusListKey(provider: string, upstreamModel: string): string {
  return `${provider} ${upstreamModel}`;
}

/** FOCUS rows of the ledger, by day. */
export interface FocusStore {
  /** Start of the first day that can be exported, the earliest one with entries; null: the ledger is empty. */
  firstDay(): Promise<number | null>;
  /** Closed days from `from` and before `to`, in order. */
  closed(from: number, to: number): Promise<readonly FocusDay[]>;
  /** Entries that began before this time were deleted. */
  deletedBefore(): Promise<number>;
  /** Makes the rows of a day final. Does nothing if they already are. Rejects with a Failure if its entries were deleted. */
  close(day: number, catalogue: FocusCatalogue): Promise<FocusDay>;
  /** The next part of a closed day; null: there are no more. `workspaceId` null: every workspace. */
  part(day: number, after: number | null, workspaceId: string | null): Promise<FocusPart | null>;
}
