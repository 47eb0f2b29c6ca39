import type { Contender } from "./contender.ts";
import { machineBusyMs, treeCpuMs } from "./process-tree.ts";

/** What one piece of work cost the contender, and how quiet the machine was meanwhile. */
export interface Cost {
  /** Processor time of the contender's process tree, until it has come to rest. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Processor time that belonged to nobody in this bench, as a share of all cores: noise. */
  readonly foreignShare: number;
}

/** Counts from before `work` until the contender is at rest again, so that work it put off is counted too. */
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

/** Processor time so far; 0 for the upstream itself. */
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
