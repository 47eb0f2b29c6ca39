import type { FailureCause } from "@sluice/contract/words";
import type { LedgerEntry, Principal } from "#core/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Why an attempt failed, for logs and metrics. */
export interface AttemptFault {
  readonly cause: FailureCause;
  /** Without credentials, and without what an upstream quotes of a request that it refused. */
  readonly message: string;
}

/** What the attempts of one request came to; filled in as they end. */
export interface AttemptSums {
  count: number;
  inputTokens: number;
  outputTokens: number;
  costNanoUsd: number;
  /** null: nothing was sent. */
  last: LedgerEntry | null;
  /** Why the last one failed; null: it did not. */
  fault: AttemptFault | null;
}

/** How a request ended. `refused`: for what its caller did, or is allowed. `failed`: also a stream that broke after its start. */
export type RequestOutcome = "succeeded" | "refused" | "failed" | "cancelled";

/** One HTTP request that was answered, for the access log. It holds nothing of its query or headers. */
export interface RequestEnd {
  readonly requestId: string;
  readonly method: string;
  /** The kind of the path. */
  readonly route: string;
  /** Where nothing is at the path: the path itself, without a query. Else null. */
  readonly path?: string | null;
  readonly outcome: RequestOutcome;
  readonly status: number;
  readonly totalMs: number;
  /** The caller's address, as told by trusted proxies. */
  readonly address: string;
  /** The first characters of the key's secret. null: no key was recognised. */
  readonly key: string | null;
  /** As the caller wrote it. null: none was read. */
  readonly model: string | null;
  /** The error code of the answer, or of how its stream broke. */
  readonly error: string | null;
  /** What was wrong, in one sentence. */
  readonly message?: string | null;
  /** Absent or without any: no attempt was made. */
  readonly attempts?: AttemptSums;
  /** Whose key it was. Absent: not known. */
  readonly principal?: Principal | null;
}

/** Where facts about the running gateway go: logs and metrics. Calls never throw and never wait. */
export interface Observer {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** One attempt (or refusal) has ended and is in the journal. */
  attemptEnd(entry: LedgerEntry, fault?: AttemptFault | null): void;
  /** A response goes on in the background. `attemptEnd` follows when it has ended, with the same id. Absent: nobody wants to know. */
  attemptPending?(entry: LedgerEntry): void;
  /** One HTTP request was answered. For a stream: its last byte was sent. */
  requestEnd(end: RequestEnd): void;
  breakerChange(deploymentId: string, state: "open" | "half-open" | "closed", reason: string): void;
  configReload(result: "applied" | "unchanged" | "refused", detail: string): void;
}
