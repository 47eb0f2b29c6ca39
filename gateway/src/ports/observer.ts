import type { LedgerEntry, Principal } from "#core/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One HTTP request that was answered, for the access log. It holds nothing of its path, query or headers. */
export interface RequestEnd {
  readonly requestId: string;
  readonly method: string;
  /** The kind of the path. */
  readonly route: string;
  readonly status: number;
  readonly totalMs: number;
  /** The caller's address, as told by trusted proxies. */
  readonly address: string;
  /** The first characters of the key's secret. null: no key was recognised. */
  readonly key: string | null;
  /** As the caller wrote it. null: none was read. */
  readonly model: string | null;
  /** The code, if the gateway itself refused the request. */
  readonly error: string | null;
  /** Whose key it was. Absent: not known. */
  readonly principal?: Principal | null;
}

/** Where facts about the running gateway go: logs and metrics. Calls never throw and never wait. */
export interface Observer {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** One attempt (or refusal) has ended and is in the journal. */
  attemptEnd(entry: LedgerEntry): void;
  /** A response goes on in the background. `attemptEnd` follows when it has ended, with the same id. Absent: nobody wants to know. */
  attemptPending?(entry: LedgerEntry): void;
  /** One HTTP request was answered. For a stream: its last byte was sent. */
  requestEnd(end: RequestEnd): void;
  breakerChange(deploymentId: string, state: "open" | "half-open" | "closed", reason: string): void;
  configReload(result: "applied" | "unchanged" | "refused", detail: string): void;
}
