import type { RequestDetail } from "@sluice/contract";

/** Place of the session that a request belongs to, with its previous and next request. */
export function SessionCard(_: { readonly detail: RequestDetail }) {
  return null;
}
