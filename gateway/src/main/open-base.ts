import { RequestTail } from "#admin/index.ts";
import type { ConfigSnapshot } from "#core/index.ts";
import { withContextWindows } from "#providers/index.ts";
import { createMetrics, createObserver, guardedObserver } from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { ConfigFile } from "./config-facts.ts";
import { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";
import { openDemoUpstream } from "./demo-upstream.ts";
import { Ending } from "./ending.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { networkOf } from "./network.ts";
import { workspaceLabels } from "./numbers-at-scrape.ts";
import { openAgentTelemetry, openTelemetry } from "./open-telemetry.ts";
import { openProcesses } from "./processes.ts";
import { numbersOf } from "./worker-numbers.ts";

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
  const telemetry = await openTelemetry({ ...options, transport, metrics, configSnapshot: current });
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
  telemetry?.tellTo(observer);
  const agentTelemetry = await openAgentTelemetry({ ...options, transport, metrics, observer });
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
