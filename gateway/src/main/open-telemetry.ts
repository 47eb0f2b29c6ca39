import type { Environment } from "#config/index.ts";
import type { ConfigSnapshot, Provider } from "#core/index.ts";
import type { Observer, Transport } from "#ports/index.ts";
import { type Metrics, type OtlpExport, openOtlp, openRelay, type TelemetryRelay } from "#telemetry/index.ts";
import { CannotStart } from "./cannot-start.ts";
import type { Control } from "./control.ts";

export interface TelemetryOptions {
  readonly environment: Environment;
  readonly control: Control;
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly version: string;
  readonly revision?: string;
  readonly configSnapshot: () => ConfigSnapshot;
}

/** null: no collector is named. Its own numbers are among the metrics. */
export async function openTelemetry(options: TelemetryOptions): Promise<OtlpExport | null> {
  const { environment, control, transport, metrics, version, revision, configSnapshot } = options;
  if (environment.otlp === null) return null;
  const { clock, instanceId } = control;
  const upstreamOf = (id: string) => upstreamFacts(configSnapshot().providers.get(id));
  const report = () => metrics.report();
  const settings = environment.otlp;
  const build = revision === undefined ? { version } : { version, revision };
  const opening = openOtlp({ settings, clock, transport, ...build, instanceId, upstreamOf, report });
  const otlp = await opening.catch((error: unknown) => {
    throw new CannotStart(`Telemetry cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
  });
  const { counts } = otlp;
  metrics.numbers({
    sluice_otlp_spans_sent_total: () => counts.spansSent,
    sluice_otlp_spans_lost_total: () => counts.spansLost,
    sluice_otlp_logs_sent_total: () => counts.logsSent,
    sluice_otlp_logs_lost_total: () => counts.logsLost,
    sluice_otlp_contents_lost_total: () => counts.contentsLost,
    sluice_otlp_metric_exports_failed_total: () => counts.metricExportsFailed,
  });
  return otlp;
}

interface RelayOptions extends Pick<TelemetryOptions, "environment" | "control" | "transport" | "metrics"> {
  readonly observer: Pick<Observer, "log">;
}

/** null: the telemetry of agents is not passed on. */
export async function openAgentTelemetry(options: RelayOptions): Promise<TelemetryRelay | null> {
  const { environment, control, transport, metrics, observer } = options;
  if (environment.otlp === null || environment.agentTelemetry !== "relay") return null;
  const { clock, people } = control;
  const emailOf = async (userId: string) => (await people.user(userId))?.email ?? null;
  const relay = await openRelay({ settings: environment.otlp, clock, transport, observer, emailOf });
  metrics.numbers({
    sluice_agent_telemetry_relayed_total: () => relay.counts.relayed,
    sluice_agent_telemetry_lost_total: () => relay.counts.lost,
  });
  return relay;
}

type UpstreamFacts = ReturnType<Parameters<typeof openOtlp>[0]["upstreamOf"]>;

/** Of each state of an account once. */
const known = new WeakMap<Provider, UpstreamFacts>();

function upstreamFacts(provider: Provider | undefined): UpstreamFacts {
  if (provider === undefined) return null;
  const found = known.get(provider);
  if (found !== undefined) return found;
  const url = URL.parse(provider.baseUrl);
  const port = url === null ? 0 : Number(url.port === "" ? (url.protocol === "http:" ? 80 : 443) : url.port);
  const facts = { kind: provider.kind, host: url?.hostname ?? "", port };
  known.set(provider, facts);
  return facts;
}
