import { bounds, canonicalJson } from "#core/index.ts";
import { type AgentStore, settingsChecksum } from "#directory/index.ts";
import type { AgentTelemetry } from "#ports/index.ts";

/** Settings as agents get them: canonical JSON with its checksum. */
interface ServedSettings {
  readonly text: string;
  readonly checksum: string;
}

/** Settings for the agents of a group. `origin`: the address that callers use. null: the group has none. */
export type ReadAgentSettings = (groupId: string, origin: string) => Promise<ServedSettings | null>;

/** `telemetry` null: telemetry of agents is not relayed. */
export function agentSettingsBy(
  agents: Pick<AgentStore, "settingsOf">,
  telemetry: Pick<AgentTelemetry, "takes"> | null,
): ReadAgentSettings {
  return async (groupId, origin) => {
    const own = await agents.settingsOf(groupId);
    return telemetry === null ? own : withTelemetry(own, telemetry, origin);
  };
}

/**
 * Adds variables that make agents send their telemetry here. Variables set by an administrator take precedence: a group may use another
 * collector, or none.
 */
function withTelemetry(
  settings: ServedSettings | null,
  telemetry: Pick<AgentTelemetry, "takes">,
  endpoint: string,
): ServedSettings {
  const own = JSON.parse(settings?.text ?? "{}") as { readonly env?: Readonly<Record<string, unknown>> };
  const exporter = (signal: "metrics" | "logs" | "traces") => (telemetry.takes(signal) ? "otlp" : "none");
  const env = {
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
    OTEL_METRICS_EXPORTER: exporter("metrics"),
    OTEL_LOGS_EXPORTER: exporter("logs"),
    OTEL_TRACES_EXPORTER: exporter("traces"),
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    ...own.env,
  };
  const text = canonicalJson({ ...own, env }, bounds.agentSettingsDepthMax);
  return { text, checksum: settingsChecksum(text) };
}
