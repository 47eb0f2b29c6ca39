import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { measure } from "../measure.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { targets } from "../targets.ts";
import { warmUp } from "../warm-up.ts";

/**
 * Whether a large configuration slows down calls: a Sluice with 20 providers and 200 models on each of them compared with one that has
 * only the benchmark's objects, in turn. A third one deploys the requested model on all of these providers.
 */
const providers = 20;
const models = 200;
/** Other processes would hide a difference of a few percent. A round in which they used more than this is repeated. */
const foreignShareMax = 0.05;

interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

interface Contestant {
  readonly sluice: Sluice;
  readonly samples: Sample[];
}

export async function longCatalog(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const load = { bodyBytes: 1024, connections: 32, seconds: quick ? 1 : 2 };
  const started: Contestant[] = [];
  try {
    const begin = async (sluice: Promise<Sluice>): Promise<Contestant> => {
      const contestant = { sluice: await sluice, samples: [] };
      started.push(contestant);
      return contestant;
    };
    const short = await begin(startSluice(run));
    const long = await begin(startSluice(run, { catalog: { providers, models, sharedProviders: 0 } }));
    const wide = await begin(startSluice(run, { catalog: { providers, models, sharedProviders: providers } }));
    for (const { sluice } of started) await warmUp(run, sluice, load);
    const wanted = quick ? 6 : 14;
    for (let round = 0; round < wanted * 2 && short.samples.length < wanted; round++) {
      // The order alternates, so that no contender is always the first.
      const order = round % 2 === 0 ? started : started.toReversed();
      const roundSamples: (readonly [Contestant, Sample])[] = [];
      for (const contestant of order) {
        const { value, cost } = await measure(contestant.sluice, () => saturate(run, contestant.sluice, load));
        if (cost.foreignShare > foreignShareMax && round < wanted) break;
        run.noise.shares.push(cost.foreignShare);
        roundSamples.push([
          contestant,
          { cpuMicros: (cost.cpuMs * 1000) / value.requests, perSecond: value.perSecond },
        ]);
      }
      if (roundSamples.length === order.length) for (const [{ samples }, sample] of roundSamples) samples.push(sample);
    }
    return [
      ...callFigures(`${providers} providers × ${models} models`, long, short, targets.longCatalog),
      ...standingFigures(`${providers} providers × ${models} models`, long, short),
      ...callFigures(`Asked model on ${providers + 1} of them`, wide, short, targets.manyDeployments),
    ];
  } finally {
    for (const { sluice } of started) await sluice.stop();
  }
}

function callFigures(name: string, long: Contestant, short: Contestant, target: { readonly most: number }): Figure[] {
  const each = (who: Contestant, what: keyof Sample) => who.samples.map((sample) => sample[what]);
  const notes = (what: keyof Sample, unit: string) =>
    `${medianText(each(short, what))} and ${medianText(each(long, what))} ${unit}; ` +
    `two samples of the same differ by ${medianText(apart(each(short, what)))} ×`;
  return [
    figure(`${name}: CPU per request, over one`, ratios(each(long, "cpuMicros"), each(short, "cpuMicros")), {
      unit: "×",
      target,
      note: notes("cpuMicros", "µs"),
    }),
    figure(`${name}: time per request, over one`, ratios(each(short, "perSecond"), each(long, "perSecond")), {
      unit: "×",
      target: targets.longCatalog,
      note: notes("perSecond", "requests/s"),
    }),
  ];
}

/** Startup time and memory of a large configuration. */
function standingFigures(name: string, long: Contestant, short: Contestant): Figure[] {
  const memory = ({ sluice }: Contestant) => treeMemory(sluice.pid).residentKb / 1024;
  const start = ({ sluice }: Contestant) => sluice.firstAnswerMs;
  return [
    figure(`${name}: first start, over one`, [start(long) - start(short)], {
      unit: "ms",
      note: `${Math.round(start(short))} and ${Math.round(start(long))} ms; the configuration is written to the database`,
    }),
    figure(`${name}: memory after load, over one`, [memory(long) - memory(short)], {
      unit: "MB",
      note: `${Math.round(memory(short))} and ${Math.round(memory(long))} MB`,
    }),
  ];
}

/** Differences between consecutive samples of the same contender. */
function apart(samples: readonly number[]): number[] {
  return ratios(samples.slice(1), samples.slice(0, -1)).map((ratio) => Math.max(ratio, 1 / ratio));
}
