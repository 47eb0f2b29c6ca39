import { bounds, Failure, sleep, waitUntil } from "#core/index.ts";
import type { Certificate } from "./certificate.ts";
import { depart } from "./ending.ts";
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

/**
 * Opens a whole gateway around an open control side, part by part. The ports open last, when every promise can be kept. Each part
 * registers its own closing; when one cannot be opened, those before it are closed.
 */
export async function createGateway(options: GatewayOptions) {
  const base = await openBase(options);
  const { control, environment, observer, configSnapshot, metrics, clock, ending } = base;
  try {
    const data = await openData(base);
    const governance = await openGovernance(base, data);
    const calls = await openCalls(base, data, governance);
    const { certificate = null, idleSeconds } = options;
    const listeners = new Listeners({ environment, clock, certificate, idleSeconds });
    data.rest.unless(() => listeners.pending() > 0);
    const leaving: Leaving = { isLeaving: false, isReplaced: false, isDraining: false };
    const { api, setup } = await openControlPlane(base, data, governance, calls, listeners, leaving);
    ending.defer("numbers", registerNumbers(base, data, governance, calls, listeners));
    ending.defer("listeners", () => listeners.stop());
    await listeners.open(api, options.link ?? null);
    // A start that fails prints why, and nothing else.
    startUpkeep(base, governance, calls);
    base.prepareDemo();
    const { recovered } = data;
    if (recovered > 0) observer.log("info", "Calls of an earlier run were put right.", { entries: recovered });
    return {
      /** Another worker has taken this one's place: resolves when its connections have gone, at most after `drain_timeout_ms`. */
      leavePlace: async (signal: AbortSignal): Promise<void> => {
        leaving.isReplaced = true;
        base.tail.close();
        const timeoutMs = configSnapshot.current.settings.drain_timeout_ms;
        await depart({ listeners, clock, observer, timeoutMs, signal });
      },
      /** The numbers of this process. */
      lastReport: (): Promise<unknown> => metrics.report(),
      /** New connections are shown this one. */
      renewCertificate: (next: Certificate): Promise<void> => listeners.renew(next),
      /** Where callers go. */
      server: listeners.calls,
      /** Where the console is: the same, unless it has a port of its own. */
      consolePort: listeners.console.port,
      /** `recovered`: ledger entries of an earlier run that were put right before the port opened. */
      ...{ observer, setup, configSnapshot, recovered, journal: data.journal, changesSeen: data.changesSeen },
      tail: base.tail,
      ...{ explainer: calls.explainer, explain: calls.explain },
      /** Reservations not yet settled or released; 0 at rest. */
      outstanding: (): number => governance.admission.outstanding,
      /** Lets live streams finish for at most `drain_timeout_ms`, then ends the rest honestly; everything is flushed. */
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

const atOnce: Leave = { graceMs: 0, hurried: new AbortController().signal };

/** Ends taking calls: load balancers turn away, what is under way has its time, and the rest is ended with an error. */
async function drain(base: Base, calls: Calls, listeners: Listeners, leaving: Leaving, leave: Leave): Promise<void> {
  const { configSnapshot, observer, tail, clock } = base;
  const { relay } = calls;
  const { graceMs, hurried } = leave;
  leaving.isLeaving = true;
  if (graceMs > 0) await sleep(clock, graceMs, hurried);
  leaving.isDraining = true;
  observer.log("info", "New calls are refused; those under way are waited for.", { pending: listeners.pending() });
  listeners.leave();
  // A live view has no end of its own that the drain could wait for.
  tail.close();
  const drainTimeoutMs = configSnapshot.current.settings.drain_timeout_ms;
  await waitUntil(clock, drainTimeoutMs, () => hurried.aborted || listeners.pending() === 0);
  if (listeners.pending() > 0) {
    observer.log("warn", "Calls under way are ended.", { pending: listeners.pending(), hurried: hurried.aborted });
  }
  relay.abortStreams(new Failure("draining", "The gateway is shutting down."));
  const calm = () => relay.liveStreams === 0 && listeners.pending() === 0 && listeners.sockets() === 0;
  await waitUntil(clock, bounds.lastBytesMs, calm);
}
