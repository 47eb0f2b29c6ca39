import type { BillingKind } from "@sluice/contract/words";
import { invalidRequest } from "#core/index.ts";
import type { BillLine } from "../bill.ts";
import { curBill, gcpBill } from "./clouds.ts";
import { csvBill, focusBill } from "./csv.ts";

/** Kinds of bills that are files. */
const fileKinds = { csv: csvBill, focus: focusBill, cur: curBill, gcp: gcpBill } as const;
export type FileKind = keyof typeof fileKinds;

/** Parses a file. Throws invalid_request with the problem. */
export function readBill(kind: BillingKind, text: string): readonly BillLine[] {
  const read = kind in fileKinds ? fileKinds[kind as FileKind] : null;
  if (read === null) throw invalidRequest("format", `Bills of kind ${kind} are read from the vendor, not from a file.`);
  return read(text);
}
