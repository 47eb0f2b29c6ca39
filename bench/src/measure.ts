import type { Contender } from "./contender.ts";
import { machineBusyMs, treeCpuMs } from "./process-tree.ts";

/** CPU cost of some work for the contender, and other load on the machine meanwhile. */
export interface Cost {
  /** CPU time of the contender's process tree until it is idle again. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** CPU time of processes outside the bench, as a share of all cores. */
  readonly foreignShare: number;
}

/** Measures from before `work` until the contender is idle again, so that deferred work is included. */
export async function measure<Value>(
  contender: Contender,
  work: () => Promise<Value>,
): Promise<{ value: Value; cost: Cost }> {
  const begin = {
    cpuMs: cpu(contender),
    busyMs: machineBusyMs(),
    oursMs: treeCpuMs(process.pid),
    at: performance.now(),
  };
  const value = await work();
  const wallMs = performance.now() - begin.at;
  const busyMs = machineBusyMs() - begin.busyMs;
  const oursMs = treeCpuMs(process.pid) - begin.oursMs;
  await atRest(contender);
  return {
    value,
    cost: {
      cpuMs: cpu(contender) - begin.cpuMs,
      wallMs,
      foreignShare: Math.max(0, busyMs - oursMs) / (wallMs * navigator.hardwareConcurrency),
    },
  };
}

/** CPU time so far. 0 for the upstream itself. */
function cpu(contender: Contender): number {
  return contender.pid === null ? 0 : treeCpuMs(contender.pid);
}

const restStepMs = 150;
const restStepsMax = 40;

/** Waits until the contender uses less than a tenth of a core, at most six seconds. */
export async function atRest(contender: Contender): Promise<void> {
  for (let step = 0, before = cpu(contender); step < restStepsMax; step++) {
    await Bun.sleep(restStepMs);
    const now = cpu(contender);
    if (now - before <= restStepMs / 10) return;
    before = now;
  }
}
