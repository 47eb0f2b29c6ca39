import { networkOf } from "#main/network.ts";
import type { OtlpSignal } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { probeCollector } from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { type Check, type Finding, fail, ok } from "./finding.ts";

/** The collector that telemetry is sent to takes it. An empty export is sent for each kind of it. */
export const telemetryCheck: Check = async ({ environment }) => {
  const { otlp } = environment;
  if (otlp === null) return [ok("telemetry", "not sent anywhere (OTEL_EXPORTER_OTLP_ENDPOINT is not set)")];
  const network = { transport: createTransport({ clock: systemClock, ...networkOf(environment) }), clock: systemClock };
  const kinds = ["traces", "metrics", "logs"] as const;
  const findings = await Promise.all(kinds.map((kind) => findingOf(kind, otlp[kind], network)));
  return findings.flatMap((finding) => finding ?? []);
};

type Network = Parameters<typeof probeCollector>[2];

async function findingOf(
  kind: "traces" | "metrics" | "logs",
  signal: OtlpSignal | null,
  network: Network,
): Promise<Finding | null> {
  if (signal === null) return null;
  const name = `telemetry ${kind}`;
  // A query may hold a key.
  const where = signal.url.replace(/[?#].*$/, "");
  const problem = await probeCollector(signal, kind, network).catch(
    (error: unknown) => `it cannot be asked: ${error instanceof Error ? error.message : String(error)}`,
  );
  if (problem === null) return ok(name, `${where} takes ${signal.protocol}`);
  const advice = "check OTEL_EXPORTER_OTLP_* and that the collector takes OTLP over HTTP; calls are served without it";
  return fail(name, `${where}: ${problem}`, advice);
}
