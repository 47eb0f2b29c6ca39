import { bounds, Failure, sleep, waitUntil } from "#core/index.ts";
import { collectAfterStart } from "#system/index.ts";
import type { Certificate } from "./certificate.ts";
import { waitForConnections } from "./ending.ts";
import type { GatewayOptions, Leave } from "./gateway-options.ts";
import { Listeners } from "./listeners.ts";
import { registerNumbers } from "./numbers.ts";
import { type Base, openBase } from "./open-base.ts";
import { type Calls, openCalls } from "./open-calls.ts";
import { type Leaving, openControlPlane } from "./open-control-plane.ts";
import { openData } from "./open-data.ts";
import { openGovernance } from "./open-governance.ts";
import { startUpkeep } from "./upkeep.ts";

export type Gateway = Awaited<ReturnType<typeof createGateway>>;

/** Opens a gateway part by part, the ports last. Each part registers how it is closed; if one fails to open, the others are closed. */
export async function createGateway(options: GatewayOptions) {
  const base = await openBase(options);
  const { control, environment, observer, configSnapshot, metrics, clock, ending } = base;
  try {
    const data = await openData(base);
    const governance = await openGovernance(base, data);
    const calls = await openCalls(base, data, governance);
    const { certificate = null, idleSeconds } = options;
    const listeners = new Listeners({ environment, clock, certificate, idleSeconds });
    data.idleMemory.busyWhile(() => listeners.pending() > 0);
    const leaving: Leaving = { isLeaving: false, isReplaced: false, isDraining: false };
    const { api, setup } = await openControlPlane(base, data, governance, calls, listeners, leaving);
    ending.defer("numbers", registerNumbers(base, data, governance, calls, listeners));
    ending.defer("listeners", () => listeners.stop());
    collectAfterStart();
    await listeners.open(api, options.link ?? null);
    startUpkeep(base, governance, calls);
    base.prepareDemo();
    const { recovered } = data;
    if (recovered > 0) observer.log("info", "recovered ledger entries of an earlier run", { entries: recovered });
    return {
      /** Another worker replaced this one. Resolves when its connections are closed, at most after `drain_timeout_ms`. */
      waitForConnections: async (signal: AbortSignal): Promise<void> => {
        leaving.isReplaced = true;
        base.tail.close();
        const timeoutMs = configSnapshot.current.settings.drain_timeout_ms;
        await waitForConnections({ listeners, clock, observer, timeoutMs, signal });
      },
      lastReport: (): Promise<unknown> => metrics.report(),
      renewCertificate: (next: Certificate): Promise<void> => listeners.renew(next),
      /** The port for calls. */
      server: listeners.calls,
      /** The same port, unless the console has its own. */
      consolePort: listeners.console.port,
      /** `recovered`: number of ledger entries recovered from an earlier run. */
      ...{ observer, setup, configSnapshot, recovered, journal: data.journal, changesSeen: data.changesSeen },
      tail: base.tail,
      ...{ explainer: calls.explainer, explain: calls.explain },
      /** Reservations not yet settled or released. */
      outstanding: (): number => governance.admission.outstanding,
      /** Lets streams finish for at most `drain_timeout_ms`, aborts the others with an error, and flushes everything. */
      close: async (leave: Leave = atOnce): Promise<void> => {
        await drain(base, calls, listeners, leaving, leave);
        await ending.close();
        await ending.step("database", () => control.close());
        await base.closeLog();
        ending.check();
      },
    };
  } catch (thrown) {
    await ending.close();
    throw thrown;
  }
}

const atOnce: Leave = { graceMs: 0, forced: new AbortController().signal };

/** Fails readiness, then refuses calls, waits for running ones, and aborts the others with an error. */
async function drain(base: Base, calls: Calls, listeners: Listeners, leaving: Leaving, leave: Leave): Promise<void> {
  const { configSnapshot, observer, tail, clock } = base;
  const { relay } = calls;
  const { graceMs, forced } = leave;
  leaving.isLeaving = true;
  if (graceMs > 0) await sleep(clock, graceMs, forced);
  leaving.isDraining = true;
  observer.log("info", "draining: refusing new calls", { pending: listeners.pending() });
  listeners.leave();
  // A live view does not end without this.
  tail.close();
  const drainTimeoutMs = configSnapshot.current.settings.drain_timeout_ms;
  await waitUntil(clock, drainTimeoutMs, () => forced.aborted || listeners.pending() === 0);
  if (listeners.pending() > 0) {
    observer.log("warn", "aborting running calls", { pending: listeners.pending(), forced: forced.aborted });
  }
  relay.abortStreams(new Failure("draining", "The gateway is shutting down."));
  const isIdle = () => relay.liveStreams === 0 && listeners.pending() === 0 && listeners.sockets() === 0;
  await waitUntil(clock, bounds.lastBytesMs, isIdle);
}
