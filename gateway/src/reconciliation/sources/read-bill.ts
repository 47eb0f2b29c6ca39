import type { BillingKind } from "@sluice/contract/words";
import { invalidRequest } from "#core/index.ts";
import type { BillRows } from "../bill.ts";
import { curBill, gcpBill } from "./clouds.ts";
import { csvBill, focusBill } from "./csv.ts";

/** Kinds of bills that are files. */
const fileKinds = { csv: csvBill, focus: focusBill, cur: curBill, gcp: gcpBill } as const;
export type FileKind = keyof typeof fileKinds;

/** Parses a file row by row. Throws invalid_request with the problem, at the row that has it. */
export function readBill(kind: BillingKind, text: string): BillRows {
  const read = kind in fileKinds ? fileKinds[kind as FileKind] : null;
  if (read === null) throw invalidRequest("format", `Bills of kind ${kind} are read from the vendor, not from a file.`);
  return read(text);
}
