import type { AuditRow, QueryInput } from "@sluice/contract";
import type { Search } from "../../routes/search.ts";

export type AuditQuery = NonNullable<QueryInput<"audit.list">>;

const searchMax = 256;
const actionMax = 64;

/** The query of the list for a URL. */
export function auditQueryOf(
  search: Search,
  span: { readonly name: string | null; readonly from: number; readonly to: number },
): AuditQuery {
  const text = (search["search"] ?? "").trim().slice(0, searchMax);
  const action = (search["action"] ?? "").trim().slice(0, actionMax);
  return {
    ...(text === "" ? {} : { search: text }),
    ...(action === "" ? {} : { action }),
    from: span.from,
    // A range that ends now has no end, so that new requests are included while the list is read.
    ...(span.name === null ? { to: span.to } : {}),
  };
}

/** An entry in the URL: its number and its time, so that it can be loaded without the list. */
export function entryName(row: Pick<AuditRow, "seq" | "at">): string {
  return `${row.seq}.${row.at}`;
}

export function entryNamed(name: string): { readonly seq: number; readonly at: number } | null {
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(name);
  return parts === null ? null : { seq: Number(parts[1]), at: Number(parts[2]) };
}
