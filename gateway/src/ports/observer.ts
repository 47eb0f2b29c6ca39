import type { FailureCause } from "@sluice/contract/words";
import type { HeaderReader, LedgerEntry, Principal, Secret } from "#core/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Why an attempt failed, for logs and metrics. */
export interface AttemptFault {
  readonly cause: FailureCause;
  /** Without credentials and without quotes of a refused request. */
  readonly message: string;
}

/** Sums over the attempts of one request, filled in as they end. */
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

/** `refused`: because of the caller's request or rights. `failed`: also a stream that broke after its start. */
export type RequestOutcome = "succeeded" | "refused" | "failed" | "cancelled";

/** An answered HTTP request, for the access log. Without query and headers. */
export interface RequestEnd {
  readonly requestId: string;
  readonly method: string;
  /** The matched route, with placeholders. */
  readonly route: string;
  /** The path without its query if no route matches, else null. */
  readonly path?: string | null;
  readonly outcome: RequestOutcome;
  readonly status: number;
  readonly totalMs: number;
  /** The caller's address, as reported by trusted proxies. */
  readonly address: string;
  /** The first characters of the key's secret; null: no key was recognized. */
  readonly key: string | null;
  /** As the caller wrote it; null: none was read. */
  readonly model: string | null;
  /** The error code of the answer, or of a broken stream. */
  readonly error: string | null;
  /** One sentence. */
  readonly message?: string | null;
  /** Absent or empty: no attempt was made. */
  readonly attempts?: AttemptSums;
  /** Absent: unknown. */
  readonly principal?: Principal | null;
}

/** Logs and metrics. Calls never throw or wait. */
export interface Observer {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** An attempt or refusal ended and is in the journal. */
  attemptEnd(entry: LedgerEntry, fault?: AttemptFault | null): void;
  /** A response continues in the background; `attemptEnd` follows with the same id. */
  attemptPending?(entry: LedgerEntry): void;
  /** An HTTP request was answered; for a stream, its last byte was sent. */
  requestEnd(end: RequestEnd): void;
  breakerChange(deploymentId: string, state: "open" | "half-open" | "closed", reason: string): void;
  configReload(result: "applied" | "unchanged" | "refused", detail: string): void;
}

/** The trace of a call (W3C Trace Context). Span ids are derived from request and attempt ids. Calls never throw. */
export interface Tracing {
  /** Continues the caller's trace, if there is one. */
  arrived(requestId: string, headers: Pick<HeaderReader, "get">): void;
  /** Trace headers for an attempt; null: tracing is off. */
  outbound(
    requestId: string,
    attemptId: string,
  ): { readonly traceparent: string; readonly tracestate: string | null } | null;
  /** For log lines. */
  traceIdOf(requestId: string): string;
}

/** An unpacked message of an agent's own telemetry (OTLP over HTTP). */
export interface RelayedTelemetry {
  readonly signal: "traces" | "metrics" | "logs";
  readonly isJson: boolean;
  readonly body: Uint8Array;
  readonly principal: Principal;
}

/** Forwards telemetry of agents. */
export interface AgentTelemetry {
  /** Whether a collector is configured for the signal. */
  takes(signal: RelayedTelemetry["signal"]): boolean;
  /** Never throws or waits; an excess is dropped and counted. */
  take(message: RelayedTelemetry): void;
}

/** The destination of one kind of telemetry, and how it is sent. */
export interface OtlpSignal {
  /** Includes the path of the signal. */
  readonly url: string;
  /** `name=value` pairs, mostly a credential; null: none. */
  readonly headers: Secret | null;
  readonly protocol: "http/protobuf" | "http/json";
  readonly compression: "none" | "gzip";
  /** For one export, with all retries. */
  readonly timeoutMs: number;
  /** Paths of PEM files. */
  readonly certificateFile: string | null;
  readonly clientCertificateFile: string | null;
  readonly clientKeyFile: string | null;
}

/** How records are batched. */
export interface OtlpBatch {
  readonly delayMs: number;
  readonly timeoutMs: number;
  /** Records that may wait; more are dropped and counted. */
  readonly queueMax: number;
  readonly batchMax: number;
}

export interface OtlpSampler {
  /** Follow the caller's sampling decision. */
  readonly parentBased: boolean;
  /** Share of other traces that is kept, from 0 to 1. */
  readonly ratio: number;
}

interface TracesSettings extends OtlpSignal {
  readonly batch: OtlpBatch;
  readonly sampler: OtlpSampler;
  /** Add messages to spans, for keys that capture bodies. */
  readonly content: boolean;
}

interface LogsSettings extends OtlpSignal {
  readonly batch: OtlpBatch;
  /** Export messages as events, for keys that capture bodies. */
  readonly content: boolean;
}

/** Read from the OTEL_ variables. A signal that is null is not exported. */
export interface OtlpSettings {
  readonly traces: TracesSettings | null;
  readonly metrics: (OtlpSignal & { readonly intervalMs: number; readonly temporality: "cumulative" | "delta" }) | null;
  readonly logs: LogsSettings | null;
  /** Resource attributes, including `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Read and write `traceparent`. */
  readonly propagates: boolean;
  /** Also use attribute names from before semantic conventions 1.42, and those proposed for cost. */
  readonly oldNames: boolean;
  readonly costNames: boolean;
}
