import { endChildrenWithUs } from "./child.ts";
import { type Figure, figure } from "./figure.ts";
import { addedLatency } from "./figures/added-latency.ts";
import { longCatalog } from "./figures/catalog.ts";
import { changeLatency } from "./figures/change-latency.ts";
import { firstByte } from "./figures/first-byte.ts";
import { formEdits } from "./figures/form-edits.ts";
import { hostile } from "./figures/hostile.ts";
import { largeBodies } from "./figures/large-bodies.ts";
import { loopBlock } from "./figures/loop-block.ts";
import { pacedStreams } from "./figures/paced-streams.ts";
import { comparePeers } from "./figures/peers.ts";
import { sharedLimits } from "./figures/shared-limits.ts";
import { smallRequest } from "./figures/small-request.ts";
import { startUp } from "./figures/start-up.ts";
import { translatedStreams } from "./figures/translated-streams.ts";
import { twoWorkers } from "./figures/two-workers.ts";
import { keepResult } from "./keep-result.ts";
import { type Lab, startLab } from "./lab.ts";
import { describeMachine, type Machine } from "./machine.ts";
import type { Noise } from "./noise.ts";
import { type FigureName, readOptions, usage } from "./options.ts";
import { type Run, startRun } from "./run.ts";
import { NoSharedServers } from "./shared-servers.ts";
import { quantiles } from "./statistics.ts";
import { table } from "./table.ts";

/** `npm run bench`: takes the figures of the speed table, prints them beside their targets and keeps them as JSON. */
const runMs = { quick: 10 * 60_000, full: 30 * 60_000 };

const labFigures: readonly (readonly [FigureName, (lab: Lab) => Promise<Figure[]>])[] = [
  ["small", smallRequest],
  ["large", largeBodies],
  ["latency", addedLatency],
  ["first-byte", firstByte],
  ["loop", loopBlock],
  ["hostile", hostile],
  ["edit", formEdits],
];

/** These start what they measure themselves. */
const runFigures: readonly (readonly [FigureName, (run: Run) => Promise<Figure[]>])[] = [
  ["streams", pacedStreams],
  ["translated", translatedStreams],
  ["catalog", longCatalog],
  ["shared", sharedLimits],
  ["changes", changeLatency],
  ["workers", twoWorkers],
  ["peers", comparePeers],
];

/** What only the light upstream can answer. */
const lightOnly: readonly FigureName[] = ["edit", "streams", "translated", "peers"];

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  if (process.platform !== "linux") throw new Error("the bench reads /proc and runs on Linux only");
  endChildrenWithUs();
  setTimeout(() => {
    console.error(`the bench took longer than ${runMs[options.mode] / 60_000} minutes and was ended`);
    process.exit(1);
  }, runMs[options.mode]).unref();
  const startedAt = new Date();
  const machine = describeMachine();
  const run = await startRun(options);
  try {
    console.log(introduction(machine, run));
    const figures = await takeFigures(run);
    console.log(`\n${table(figures)}\n\n${noiseLine(run.noise)}`);
    await keepResult(options.mode, startedAt, {
      gateway: options.gateway,
      machine,
      pinned: run.cores,
      noise: { ...quantiles(run.noise.shares), ...run.noise.tally() },
      figures,
    });
  } finally {
    await run.close();
  }
}

async function takeFigures(run: Run): Promise<Figure[]> {
  const { only, simulator, peers } = run.options;
  const asked = (name: FigureName) => (name === "peers" ? peers : only.length === 0) || only.includes(name);
  const wanted = (name: FigureName) => asked(name) && !(simulator && lightOnly.includes(name));
  const figures: Figure[] = [];
  if (wanted("start")) figures.push(...(await announced("start", () => startUp(run))));
  if (labFigures.some(([name]) => wanted(name))) {
    const lab = await startLab(run);
    try {
      for (const [name, take] of labFigures) {
        if (wanted(name)) figures.push(...(await announced(name, () => take(lab))));
      }
    } finally {
      await lab.close();
    }
  }
  for (const [name, take] of runFigures) {
    if (wanted(name)) figures.push(...(await announced(name, () => take(run))));
  }
  return figures;
}

async function announced(name: FigureName, take: () => Promise<Figure[]>): Promise<Figure[]> {
  const start = performance.now();
  process.stderr.write(`measuring ${name} … `);
  const figures = await take().catch((thrown: unknown) => {
    if (!(thrown instanceof NoSharedServers)) throw thrown;
    return [figure(`With PostgreSQL and Redis: ${name}`, [], { unit: "", note: thrown.message })];
  });
  process.stderr.write(`${Math.round((performance.now() - start) / 1000)} s\n`);
  return figures;
}

function introduction({ processor, cores, memoryGb, kernel, versions, commit }: Machine, run: Run): string {
  const tools = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const pins =
    run.cores.contender.length === 0
      ? "nothing is pinned (one core)"
      : `contender on core ${run.cores.contender.join()}, upstream on ${run.cores.upstream.join()}, load on ${run.cores.load.join()}`;
  return `${processor}, ${cores} cores, ${memoryGb} GB, ${kernel}; ${tools.join(", ")}; commit ${commit}\n${pins}; ${run.options.mode} run`;
}

function noiseLine(noise: Noise): string {
  if (noise.shares.length === 0) return "";
  const { p50, max } = quantiles(noise.shares);
  const { taken, dropped } = noise.tally();
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return `others used ${percent(p50)} of the machine in the median measurement, ${percent(max)} in the noisiest; ${dropped} of ${taken} samples were dropped because the host took processor time`;
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
process.exit();
