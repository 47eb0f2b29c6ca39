import type { OtlpSignal } from "#ports/index.ts";
import type { CollectorNetwork } from "./otlp/collector-client.ts";
import type { OtlpExport as Opened, OtlpExportOptions } from "./otlp/otlp-export.ts";
import type { TelemetryRelay as Relay, TelemetryRelayOptions } from "./otlp/telemetry-relay.ts";

export type OtlpExport = Opened;
export type TelemetryRelay = Relay;

/** Loads the exporters only when they are needed. Throws when a certificate cannot be read. */
export async function openOtlp(options: OtlpExportOptions): Promise<OtlpExport> {
  const late = await import("./otlp/otlp-export.ts");
  return await late.OtlpExport.open(options);
}

/** Sends an empty export. Returns the problem, or null if the collector accepts it. */
export async function probeCollector(
  signal: OtlpSignal,
  kind: "traces" | "metrics" | "logs",
  network: CollectorNetwork,
): Promise<string | null> {
  const late = await import("./otlp/collector-client.ts");
  return await late.probeCollector(signal, kind, network);
}

/** Forwards the telemetry of agents to the same collector. Throws when a certificate cannot be read. */
export async function openRelay(options: TelemetryRelayOptions): Promise<TelemetryRelay> {
  const late = await import("./otlp/telemetry-relay.ts");
  return await late.TelemetryRelay.open(options);
}
