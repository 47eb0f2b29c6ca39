import { RequestTail } from "#admin/index.ts";
import type { ConfigSnapshot, Provider } from "#core/index.ts";
import type { Observer, Transport } from "#ports/index.ts";
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

/** What every part of the gateway is opened with. */
export type Base = Awaited<ReturnType<typeof openBase>>;

/** Opens what reports what happens (log, metrics, telemetry, the live tail) and what reaches others. */
export async function openBase(options: GatewayOptions) {
  const { environment, control } = options;
  const { clock, ids, controlStore, instanceId } = control;
  const read = () => readConfigSnapshot(control);
  const configSnapshot = new ConfigSnapshotHolder(read, clock, await read());
  const current = (): ConfigSnapshot => configSnapshot.current;
  const metrics = createMetrics(options, workspaceLabels(environment.metricsWorkspaces, current));
  const demo = openDemoUpstream();
  const inProcess = new Map([["simulator", demo.fetch]]);
  const transport = createTransport({ clock, ...networkOf(environment), inProcess });
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
  const tail = new RequestTail({ clock, controlStore, configSnapshot: current });
  const observer = guardedObserver(tail.before(guardedObserver(configFile.before(guardedObserver(log)))));
  telemetry?.setObserver(observer);
  const agentTelemetry = await openAgentTelemetry({ ...options, transport, metrics }, observer);
  const processes = options.processes ?? (await openProcesses(options));
  processes.tellTo(observer);
  tail.share({ broadcast: processes.broadcast, instanceId });
  const ending = new Ending({ clock, observer });
  return {
    ...{ options, environment, control, clock, ids, observer, metrics, transport, processes, ending },
    ...{ configSnapshot, configFile, tail, agentTelemetry },
    numbers: numbersOf(metrics, options.link ?? null, clock.now()),
    tracing: telemetry?.traces == null ? {} : { tracing: telemetry.traces },
    contentSink: telemetry?.content ?? null,
    /** Loads the demo before its first call, where a provider is one. */
    prepareDemo: (): void => {
      const providers = [...configSnapshot.current.providers.values()];
      if (providers.some(({ kind, enabled }) => kind === "demo" && enabled)) void demo.prepare();
    },
    /** Last of all, so that the log and the collector hear of every other end. */
    async closeLog(): Promise<void> {
      ending.tell();
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

/** null: no collector is named. Its own numbers are among the metrics. */
async function openTelemetry(parts: TelemetryParts, configSnapshot: () => ConfigSnapshot): Promise<OtlpExport | null> {
  const { environment, control, transport, metrics, version, revision } = parts;
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

/** null: the telemetry of agents is not passed on. */
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
