import { createHash } from "node:crypto";
import { bounds, canonicalJson } from "#core/index.ts";
import type { AgentTelemetry } from "#ports/index.ts";

interface ServedSettings {
  readonly text: string;
  readonly checksum: string;
}

/**
 * What a group's agents are set to, with what makes them send their telemetry here. What an administrator says in `env` goes before it:
 * a group may have a collector of its own, or none.
 */
export function withTelemetry(
  settings: ServedSettings | null,
  telemetry: Pick<AgentTelemetry, "takes">,
  endpoint: string,
): ServedSettings {
  const said = JSON.parse(settings?.text ?? "{}") as { readonly env?: Readonly<Record<string, unknown>> };
  const exporter = (signal: "metrics" | "logs" | "traces") => (telemetry.takes(signal) ? "otlp" : "none");
  const env = {
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
    OTEL_METRICS_EXPORTER: exporter("metrics"),
    OTEL_LOGS_EXPORTER: exporter("logs"),
    OTEL_TRACES_EXPORTER: exporter("traces"),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    ...said.env,
  };
  const text = canonicalJson({ ...said, env }, bounds.agentSettingsDepthMax);
  return { text, checksum: `sha256:${createHash("sha256").update(text).digest("hex")}` };
}
