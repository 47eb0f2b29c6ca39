import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, middle, ratios } from "../figure.ts";
import { measure } from "../measure.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { startSharedServers } from "../shared-servers.ts";
import { targets } from "../targets.ts";

/**
 * A gateway of two workers beside one of one, in turn, on all cores of the machine. What two carry is only seen where upstream, load,
 * PostgreSQL and Redis have further cores; what a call costs either is seen anywhere, and so how far two would go on two cores of their own.
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

/** Two for the workers, one for the load, one for the upstream and the servers. */
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
    figure("Calls a second of two workers, over one", ratios(of(2, "perSecond"), of(1, "perSecond")), {
      unit: "×",
      ...(isBound ? {} : { target: targets.twoWorkers }),
      note:
        `${middle(of(1, "perSecond"))} and ${middle(of(2, "perSecond"))} calls/s` +
        (isBound ? `; ${cores} cores carry upstream, load and both servers too, and are what bounds it` : ""),
    }),
    figure("Processor time per call of one worker, over two", ratios(of(1, "cpuMicros"), of(2, "cpuMicros")), {
      unit: "×",
      target: targets.twoWorkersCpu,
      note: `${middle(of(1, "cpuMicros"))} and ${middle(of(2, "cpuMicros"))} µs; twice this is what two workers carry on cores of their own`,
    }),
  ];
}
