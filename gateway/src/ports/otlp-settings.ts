import type { Secret } from "#core/index.ts";

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
