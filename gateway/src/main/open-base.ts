import { RequestTail } from "#admin/index.ts";
import { type ConfigSnapshot, oncePerObject, type Provider } from "#core/index.ts";
import type { Observer, Transport } from "#ports/index.ts";
import { SecretReferences } from "#provider-client/index.ts";
import { withContextWindows } from "#providers/index.ts";
import {
  createMetrics,
  createObserver,
  guardedObserver,
  type Metrics,
  type OtlpExport,
  openOtlp,
  openRelay,
  type TelemetryRelay,
} from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { ConfigFile } from "./config-file.ts";
import { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import { CannotStart, type Control, networkOf } from "./control.ts";
import { openDemoUpstream } from "./demo-upstream.ts";
import { Ending } from "./ending.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { openProcesses } from "./processes.ts";
import { numbersOf, workspaceLabels } from "./worker-numbers.ts";

/** The parts that all other parts of the gateway need. */
export type Base = Awaited<ReturnType<typeof openBase>>;

/** Opens log, metrics, telemetry, the live tail, outbound transport and the link to other processes. */
export async function openBase(options: GatewayOptions) {
  const { environment, control } = options;
  const { clock, ids, controlStore, people, instanceId } = control;
  const demo = openDemoUpstream();
  const inProcess = new Map([["simulator", demo.fetch]]);
  const transport = createTransport({ clock, ...networkOf(environment), inProcess });
  const references = new SecretReferences({ transport, clock, workload: environment.workload });
  const read = async () => references.resolve(await readConfigSnapshot(control));
  const configSnapshot = new ConfigSnapshotHolder(read, clock, await read());
  const current = (): ConfigSnapshot => configSnapshot.current;
  const metrics = createMetrics(options, workspaceLabels(environment.metricsWorkspaces, current));
  const telemetry = await openTelemetry({ ...options, transport, metrics }, current);
  const log = createObserver({
    level: environment.logLevel,
    format: environment.logFormat,
    accessLog: environment.accessLog,
    ...(environment.redisUrl === null ? {} : { instance: instanceId }),
    ...{ clock, metrics },
    ...(telemetry === null ? {} : { exported: telemetry }),
  });
  const isApplied = options.configRefused !== true;
  const configFile = new ConfigFile(environment.configFile, clock, options.variables ?? {}, isApplied);
  const tail = new RequestTail({ clock, controlStore, people, configSnapshot: current });
  const observer = guardedObserver(tail.observe(guardedObserver(configFile.before(guardedObserver(log)))));
  telemetry?.setObserver(observer);
  const agentTelemetry = await openAgentTelemetry({ ...options, transport, metrics }, observer);
  const processes = options.processes ?? (await openProcesses(options));
  processes.setObserver(observer);
  tail.share({ broadcast: processes.broadcast, instanceId });
  const ending = new Ending({ clock, observer });
  references.follow(observer, () => void configSnapshot.refresh());
  ending.defer("secret references", () => references.close());
  return {
    ...{ options, environment, control, clock, ids, observer, metrics, transport, processes, ending },
    ...{ configSnapshot, configFile, tail, agentTelemetry, references },
    numbers: numbersOf(metrics, options.link ?? null, clock.now()),
    tracing: telemetry?.traces == null ? {} : { tracing: telemetry.traces },
    contentSink: telemetry?.content ?? null,
    /** Loads the demo in advance if a provider uses it. */
    prepareDemo: (): void => {
      const providers = [...configSnapshot.current.providers.values()];
      if (providers.some(({ kind, enabled }) => kind === "demo" && enabled)) void demo.prepare();
    },
    /** Call it last, so that the log and the collector receive everything. */
    async closeLog(): Promise<void> {
      ending.logResult();
      log.flush();
      await ending.step("telemetry", () => Promise.all([telemetry?.close(), agentTelemetry?.close()]));
      log.flush();
    },
  };
}

async function readConfigSnapshot({ vault, controlStore }: Control): Promise<ConfigSnapshot> {
  await vault.refresh();
  return await withContextWindows(await controlStore.configSnapshot(), controlStore.storedPriceList);
}

interface TelemetryParts extends Pick<GatewayOptions, "environment" | "control" | "version" | "revision"> {
  readonly transport: Transport;
  readonly metrics: Metrics;
}

/** null if no collector is configured. */
async function openTelemetry(parts: TelemetryParts, configSnapshot: () => ConfigSnapshot): Promise<OtlpExport | null> {
  const { environment, control, transport, metrics, version, revision } = parts;
  if (environment.otlp === null) return null;
  const { clock, instanceId } = control;
  const upstreamOf = (id: string) => {
    const provider = configSnapshot().providers.get(id);
    return provider === undefined ? null : upstreamFacts(provider);
  };
  const report = () => metrics.report();
  const settings = environment.otlp;
  const build = revision === undefined ? { version } : { version, revision };
  const opening = openOtlp({ settings, clock, transport, ...build, instanceId, upstreamOf, report });
  const otlp = await opening.catch((error: unknown) => {
    throw new CannotStart(`Telemetry cannot be exported: ${error instanceof Error ? error.message : String(error)}`);
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

/** null if the telemetry of agents is not forwarded. */
async function openAgentTelemetry(
  { environment, control, transport, metrics }: TelemetryParts,
  observer: Observer,
): Promise<TelemetryRelay | null> {
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

const upstreamFacts = oncePerObject(({ kind, baseUrl }: Provider) => {
  const url = URL.parse(baseUrl);
  const port = url === null ? 0 : Number(url.port === "" ? (url.protocol === "http:" ? 80 : 443) : url.port);
  return { kind, host: url?.hostname ?? "", port };
});
