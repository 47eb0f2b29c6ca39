import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { measure } from "../measure.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { startSharedServers } from "../shared-servers.ts";
import { targets } from "../targets.ts";

/**
 * A gateway with two workers compared with one worker, in turn, on all cores. The throughput of two workers needs more cores for upstream,
 * load, PostgreSQL and Redis. The CPU time per call can be measured anywhere, and gives the throughput on two dedicated cores.
 */
interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

interface Contestant {
  readonly workers: 1 | 2;
  readonly sluice: Sluice;
  readonly samples: Sample[];
}

/** Two for the workers, one for the load, one for upstream and servers. */
const coresMin = 4;

export async function twoWorkers(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const load = { bodyBytes: 1024, connections: 32, seconds: quick ? 1 : 3 };
  const servers = await startSharedServers(run);
  const started: Contestant[] = [];
  try {
    for (const workers of [1, 2] as const) {
      const env = { ...(await servers.environment()), SLUICE_WORKERS: String(workers) };
      started.push({ workers, sluice: await startSluice(run, { env, cores: [] }), samples: [] });
    }
    for (const { sluice } of started) await saturate(run, sluice, { ...load, seconds: quick ? 3 : 6 });
    for (let round = 0; round < (quick ? 5 : 7); round++) {
      for (const { sluice, samples } of round % 2 === 0 ? started : started.toReversed()) {
        const { value, cost } = await run.noise.undisturbed(() => measure(sluice, () => saturate(run, sluice, load)));
        run.noise.shares.push(cost.foreignShare);
        samples.push({ cpuMicros: (cost.cpuMs * 1_000) / value.requests, perSecond: value.perSecond });
      }
    }
  } finally {
    for (const { sluice } of started) await sluice.stop();
    await servers.stop();
  }
  const of = (workers: 1 | 2, what: keyof Sample): number[] =>
    started.find((one) => one.workers === workers)?.samples.map((sample) => sample[what]) ?? [];
  const cores = navigator.hardwareConcurrency;
  const isBound = cores < coresMin;
  return [
    figure("Calls per second of two workers, over one", ratios(of(2, "perSecond"), of(1, "perSecond")), {
      unit: "×",
      ...(isBound ? {} : { target: targets.twoWorkers }),
      note:
        `${medianText(of(1, "perSecond"))} and ${medianText(of(2, "perSecond"))} calls/s` +
        (isBound ? `; ${cores} cores carry upstream, load and both servers too, and are what bounds it` : ""),
    }),
    figure("CPU time per call of one worker, over two", ratios(of(1, "cpuMicros"), of(2, "cpuMicros")), {
      unit: "×",
      target: targets.twoWorkersCpu,
      note: `${medianText(of(1, "cpuMicros"))} and ${medianText(of(2, "cpuMicros"))} µs; two workers on dedicated cores reach twice this`,
    }),
  ];
}
