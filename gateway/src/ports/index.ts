/**
 * ports: what the gateway needs from the world, as interfaces. Implemented by the edge modules, wired by main.
 */
export type { AgentTelemetry, RelayedTelemetry } from "./agent-telemetry.ts";
export * from "./asset-resolver.ts";
export * from "./asset-store.ts";
export * from "./audit.ts";
export * from "./blob-store.ts";
export * from "./broadcast.ts";
export * from "./config-records.ts";
export * from "./counter.ts";
export * from "./explain-store.ts";
export * from "./form-body.ts";
export * from "./health-board.ts";
export * from "./instances.ts";
export * from "./journal.ts";
export * from "./key-store.ts";
export * from "./leases.ts";
export * from "./ledger-export.ts";
export * from "./ledger-store.ts";
export * from "./mailer.ts";
export * from "./notice-store.ts";
export * from "./observer.ts";
export * from "./offload.ts";
export * from "./open-attempts.ts";
export * from "./otlp-settings.ts";
export * from "./report-store.ts";
export * from "./shared-facts.ts";
export * from "./sign-in.ts";
export * from "./spool.ts";
export * from "./static-files.ts";
export * from "./system.ts";
export * from "./task-store.ts";
export * from "./tracing.ts";
export * from "./transport.ts";
export * from "./tries.ts";
export * from "./upstream-object-store.ts";
