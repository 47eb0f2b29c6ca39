import type { OtlpSignal } from "#ports/index.ts";
import { probeCollector } from "#telemetry/index.ts";
import { type Check, type Finding, fail, ok } from "./finding.ts";

/** The collector that telemetry is sent to takes it. An empty export is sent for each kind of it. */
export const telemetryCheck: Check = async ({ environment }) => {
  const { otlp } = environment;
  if (otlp === null) return [ok("telemetry", "not sent anywhere (OTEL_EXPORTER_OTLP_ENDPOINT is not set)")];
  const kinds = ["traces", "metrics", "logs"] as const;
  const findings = await Promise.all(kinds.map((kind) => findingOf(kind, otlp[kind])));
  return findings.flatMap((finding) => finding ?? []);
};

async function findingOf(kind: "traces" | "metrics" | "logs", signal: OtlpSignal | null): Promise<Finding | null> {
  if (signal === null) return null;
  const name = `telemetry ${kind}`;
  // A query may hold a key.
  const where = signal.url.replace(/[?#].*$/, "");
  const problem = await probeCollector(signal, kind).catch(
    (error: unknown) => `it cannot be asked: ${error instanceof Error ? error.message : String(error)}`,
  );
  if (problem === null) return ok(name, `${where} takes ${signal.protocol}`);
  const advice = "check OTEL_EXPORTER_OTLP_* and that the collector takes OTLP over HTTP; calls are served without it";
  return fail(name, `${where}: ${problem}`, advice);
}
