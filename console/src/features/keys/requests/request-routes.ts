import type { RouteId } from "@sluice/contract";

/** Queries to refetch after a key request was sent or decided. */
export const afterRequestChange: readonly RouteId[] = [
  "keyRequests.list",
  "keyRequests.show",
  "attention.list",
  "inbox.show",
];
