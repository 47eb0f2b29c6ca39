import type { ExportedPart } from "#ports/index.ts";

/** To the thread that reads the ledger for its copies. */
export type ExportOrder =
  | { readonly type: "count"; readonly hours: readonly number[] }
  | { readonly type: "part"; readonly hour: number; readonly from: string | null };

export type ExportReply =
  | { readonly type: "count"; readonly entries: readonly number[] }
  | { readonly type: "part"; readonly part: ExportedPart };
