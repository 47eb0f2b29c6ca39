import { bounds, canonicalJson } from "#core/index.ts";
import { type AgentStore, settingsChecksum } from "#directory/index.ts";
import type { AgentTelemetry } from "#ports/index.ts";

/** Settings as agents get them: canonical JSON with its checksum. */
interface ServedSettings {
  readonly text: string;
  readonly checksum: string;
}

/** What the agents of a group are set to, by an agent's own question as by a preview. `origin`: where callers reach the gateway. null: nothing is managed. */
export type AgentSettingsOf = (groupId: string, origin: string) => Promise<ServedSettings | null>;

/** `telemetry` null: what agents tell of themselves is not passed on. */
export function agentSettingsBy(
  agents: Pick<AgentStore, "settingsOf">,
  telemetry: Pick<AgentTelemetry, "takes"> | null,
): AgentSettingsOf {
  return async (groupId, origin) => {
    const own = await agents.settingsOf(groupId);
    return telemetry === null ? own : withTelemetry(own, telemetry, origin);
  };
}

/**
 * What a group's agents are set to, with what makes them send their telemetry here. What an administrator says in `env` goes before it:
 * a group may have a collector of its own, or none.
 */
function withTelemetry(
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
  return { text, checksum: settingsChecksum(text) };
}
