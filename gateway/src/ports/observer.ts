import type { LedgerEntry } from "#core/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One HTTP request that has been answered, as the access log tells it. Nothing of its path, query or headers. */
export interface RequestEnd {
  readonly requestId: string;
  readonly method: string;
  /** The kind of path that was asked for. */
  readonly route: string;
  readonly status: number;
  readonly totalMs: number;
  /** The caller's, as far as proxies are believed. */
  readonly address: string;
  /** First characters of the key's secret; null: nobody was recognised. */
  readonly key: string | null;
  /** As the caller wrote it; null: none was read. */
  readonly model: string | null;
  /** The code of our own refusal. */
  readonly error: string | null;
}

/** Where facts about the running gateway go: logs and metrics. Calls never throw and never wait. */
export interface Observer {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** One attempt (or refusal) has ended and is in the journal. */
  attemptEnd(entry: LedgerEntry): void;
  /** One HTTP request has been answered; for a stream, when its last byte left. */
  requestEnd(end: RequestEnd): void;
  breakerChange(deploymentId: string, state: "open" | "half-open" | "closed", reason: string): void;
  configReload(result: "applied" | "unchanged" | "refused", detail: string): void;
}
