import type { LedgerEntry } from "#core/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Where facts about the running house go: logs and metrics. Calls never throw and never wait. */
export interface Observer {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** One attempt (or refusal) has ended and is in the journal. */
  attemptEnd(entry: LedgerEntry): void;
  /** One HTTP request has been answered; for a stream, when its last byte left. */
  requestEnd(route: string, status: number, totalMs: number): void;
  breakerChange(deploymentId: string, state: "open" | "half-open" | "closed", reason: string): void;
  configReload(result: "applied" | "unchanged" | "refused", detail: string): void;
}
