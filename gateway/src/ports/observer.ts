import type { FailureCause } from "@sluice/contract/words";
import type { HeaderReader, LedgerEntry, Principal, Secret } from "#core/index.ts";

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

/**
 * The trace that a call is part of (W3C Trace Context). Ids are made of our own: who knows an id of a request or an attempt
 * knows those of its span, and nothing has to be carried along. Calls never throw.
 */
export interface Tracing {
  /** A request has come in; what its caller says of a trace is continued. */
  arrived(requestId: string, headers: Pick<HeaderReader, "get">): void;
  /** What an attempt of the request says of it to its upstream; null: nothing is said of traces here. */
  outbound(
    requestId: string,
    attemptId: string,
  ): { readonly traceparent: string; readonly tracestate: string | null } | null;
  /** The trace's id, for whoever reads a log line. */
  traceIdOf(requestId: string): string;
}

/** One message of an agent's own telemetry (OTLP over HTTP), unpacked. */
export interface RelayedTelemetry {
  readonly signal: "traces" | "metrics" | "logs";
  readonly isJson: boolean;
  readonly body: Uint8Array;
  readonly principal: Principal;
}

/** Passes the telemetry of agents on, in the name of whoever they call for. */
export interface AgentTelemetry {
  /** Whether anybody collects it. */
  takes(signal: RelayedTelemetry["signal"]): boolean;
  /** Never fails and never waits; what is too much is dropped and counted. */
  take(message: RelayedTelemetry): void;
}

/** Where and how one kind of telemetry is sent. */
export interface OtlpSignal {
  /** The whole address, with the path of the signal. */
  readonly url: string;
  /** `name=value` pairs, mostly a credential. null: none. */
  readonly headers: Secret | null;
  readonly protocol: "http/protobuf" | "http/json";
  readonly compression: "none" | "gzip";
  /** For one export with all its tries. */
  readonly timeoutMs: number;
  /** Paths of PEM files. */
  readonly certificateFile: string | null;
  readonly clientCertificateFile: string | null;
  readonly clientKeyFile: string | null;
}

/** How single records are gathered before they are sent. */
export interface OtlpBatch {
  readonly delayMs: number;
  readonly timeoutMs: number;
  /** Records that may wait; more are dropped and counted. */
  readonly queueMax: number;
  readonly batchMax: number;
}

export interface OtlpSampler {
  /** Whether the decision of a caller that says one is followed. */
  readonly parentBased: boolean;
  /** Part of the other traces that is kept, from 0 to 1. */
  readonly ratio: number;
}

interface TracesSettings extends OtlpSignal {
  readonly batch: OtlpBatch;
  readonly sampler: OtlpSampler;
  /** Whether spans have the messages of calls whose key captures bodies. */
  readonly content: boolean;
}

interface LogsSettings extends OtlpSignal {
  readonly batch: OtlpBatch;
  /** Whether the messages of calls whose key captures bodies are told as events of their own. */
  readonly content: boolean;
}

/** What the OTEL_ variables say. A signal that is null is not exported. */
export interface OtlpSettings {
  readonly traces: TracesSettings | null;
  readonly metrics: (OtlpSignal & { readonly intervalMs: number; readonly temporality: "cumulative" | "delta" }) | null;
  readonly logs: LogsSettings | null;
  /** Of the resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  /** Whether `traceparent` is read and written. */
  readonly propagates: boolean;
  /** Names of the conventions before 1.42 beside those of today, and those of the proposal for cost. */
  readonly oldNames: boolean;
  readonly costNames: boolean;
}
