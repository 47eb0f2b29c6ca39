/**
 * reconciliation: compares vendors' bills with the ledger.
 *
 * A *bill* is read from the vendor's API or from a file, and becomes rows of one model and class on one UTC day. A *line* is that row
 * with ours and with the *causes* of its difference. A *decision* is what an administrator did about a line: book it as an adjustment,
 * take the vendor's price, or explain it.
 *
 * Entries are never changed. If a vendor cannot be read, the last comparison stays and the reading is repeated every hour. If the
 * database is down, calls reject.
 */
export { type BillDayTotals, createBillStore } from "./bill-store.ts";
export { type LineView, Reconciliation, type ShownDay } from "./reconciliation.ts";
export type { FileKind } from "./sources/read-bill.ts";
