import type { Contender } from "./contender.ts";
import { holdStreams, type StreamLoad } from "./hold-streams.ts";
import { type Memory, machineBusyMs, treeCpuMs, treeMemory } from "./process-tree.ts";
import type { StreamLoadResult } from "./programs/stream-load.ts";
import type { Run } from "./run.ts";

/** Cost of concurrent streams for the contender. */
export interface WatchedStreams {
  readonly result: StreamLoadResult;
  /** CPU time within the window. */
  readonly cpuMs: number;
  /** Memory at the end of the window. */
  readonly memory: Memory;
}

/** Runs streams through a contender and measures it while all are running. Adds the load of other processes to the run's noise. */
export function watchStreams(run: Run, contender: Contender, load: StreamLoad): Promise<WatchedStreams> {
  return run.noise.undisturbed(() => watchOnce(run, contender, load));
}

async function watchOnce(run: Run, contender: Contender, load: StreamLoad): Promise<WatchedStreams> {
  let cpuMs = 0;
  let memory: Memory = { residentKb: 0, peakKb: 0 };
  const result = await holdStreams(run, contender, load, async () => {
    const [busyMs, oursMs] = [machineBusyMs(), treeCpuMs(process.pid)];
    const before = contender.pid === null ? 0 : treeCpuMs(contender.pid);
    await Bun.sleep(load.windowMs);
    if (contender.pid !== null) {
      memory = treeMemory(contender.pid);
      cpuMs = treeCpuMs(contender.pid) - before;
    }
    const foreignMs = machineBusyMs() - busyMs - (treeCpuMs(process.pid) - oursMs);
    run.noise.shares.push(Math.max(0, foreignMs) / (load.windowMs * navigator.hardwareConcurrency));
  });
  return { result, cpuMs, memory };
}

/** Runs a few streams first, so that the measured ones have compiled code and a heap of normal size. */
export async function warmStreams(
  run: Run,
  contender: Contender,
  load: Pick<StreamLoad, "bodyBytes" | "openPerSecond" | "caller" | "model">,
): Promise<void> {
  await holdStreams(run, contender, { ...load, streams: 100, gapMs: 20, windowMs: 500 }, async () => undefined);
}
