/**
 * ports: interfaces to everything outside the gateway's own logic. Edge modules implement them; main connects them.
 */
export * from "./audit.ts";
export * from "./blob-store.ts";
export * from "./config-records.ts";
export * from "./counter.ts";
export * from "./explain-store.ts";
export * from "./focus-store.ts";
export * from "./import-draft.ts";
export * from "./journal.ts";
export * from "./key-store.ts";
export * from "./leases.ts";
export * from "./ledger-store.ts";
export * from "./mailer.ts";
export * from "./observer.ts";
export * from "./report-store.ts";
export * from "./sign-in.ts";
export * from "./spool.ts";
export * from "./system.ts";
export * from "./transport.ts";
export * from "./workload.ts";
