import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, middle, ratios } from "../figure.ts";
import { measure } from "../measure.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { saturate } from "../saturate.ts";
import { targets } from "../targets.ts";
import { warmUp } from "../warm-up.ts";

/**
 * Whether a long configuration slows down the calls of a short one: a Sluice that knows 20 providers with 200 models on
 * each of them beside one that knows only what the bench asks for, in turn. A third one's asked model is on all of these
 * providers itself, as one of many accounts would have it.
 */
const providers = 20;
const models = 200;
/** A difference of a few percent drowns in what others do: a round in which they used more than this is taken again. */
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
    const long = await begin(startSluice(run, { catalog: { providers, models, askedOn: 0 } }));
    const wide = await begin(startSluice(run, { catalog: { providers, models, askedOn: providers } }));
    for (const { sluice } of started) await warmUp(run, sluice, load);
    const wanted = quick ? 6 : 14;
    for (let round = 0; round < wanted * 2 && short.samples.length < wanted; round++) {
      // The order turns round, so that what the first of a round does to the machine falls on all alike.
      const order = round % 2 === 0 ? started : started.toReversed();
      const taken: (readonly [Contestant, Sample])[] = [];
      for (const contestant of order) {
        const { value, cost } = await measure(contestant.sluice, () => saturate(run, contestant.sluice, load));
        if (cost.foreignShare > foreignShareMax && round < wanted) break;
        run.noise.shares.push(cost.foreignShare);
        taken.push([contestant, { cpuMicros: (cost.cpuMs * 1000) / value.requests, perSecond: value.perSecond }]);
      }
      if (taken.length === order.length) for (const [{ samples }, sample] of taken) samples.push(sample);
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
    `${middle(each(short, what))} and ${middle(each(long, what))} ${unit}; ` +
    `two samples of the same differ by ${middle(apart(each(short, what)))} ×`;
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

/** What a long configuration costs by its being there. */
function standingFigures(name: string, long: Contestant, short: Contestant): Figure[] {
  const memory = ({ sluice }: Contestant) => treeMemory(sluice.pid).residentKb / 1024;
  const start = ({ sluice }: Contestant) => sluice.firstAnswerMs;
  return [
    figure(`${name}: very first start, over one`, [start(long) - start(short)], {
      unit: "ms",
      note: `${Math.round(start(short))} and ${Math.round(start(long))} ms; the configuration is written to the database`,
    }),
    figure(`${name}: memory after load, over one`, [memory(long) - memory(short)], {
      unit: "MB",
      note: `${Math.round(memory(short))} and ${Math.round(memory(long))} MB`,
    }),
  ];
}

/** How far samples of the same lie apart from one round to the next. */
function apart(samples: readonly number[]): number[] {
  return ratios(samples.slice(1), samples.slice(0, -1)).map((ratio) => Math.max(ratio, 1 / ratio));
}
