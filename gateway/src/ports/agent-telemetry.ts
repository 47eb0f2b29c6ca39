import type { Principal } from "#core/index.ts";

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
