import { endChildrenWithUs } from "./child.ts";
import type { Figure } from "./figure.ts";
import { addedLatency } from "./figures/added-latency.ts";
import { atRestFigures } from "./figures/at-rest.ts";
import { besideConsole } from "./figures/beside-console.ts";
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
import { type Lab, startLab } from "./lab.ts";
import { describeMachine, type Machine } from "./machine.ts";
import type { Noise } from "./noise.ts";
import { type FigureName, readOptions, usage } from "./options.ts";
import { Results } from "./results.ts";
import { type Run, startRun } from "./run.ts";
import { quantiles } from "./statistics.ts";

/**
 * `npm run bench`: measures the figures of the speed table, prints them with their targets and stores them as JSON. If a figure fails,
 * the others are still measured.
 */
const runMs = { quick: 20 * 60_000, full: 60 * 60_000 };

const labFigures: readonly (readonly [FigureName, (lab: Lab) => Promise<Figure[]>])[] = [
  ["small", smallRequest],
  ["large", largeBodies],
  ["latency", addedLatency],
  ["first-byte", firstByte],
  ["loop", loopBlock],
  ["hostile", hostile],
  ["edit", formEdits],
];

type OfRun = readonly (readonly [FigureName, (run: Run) => Promise<Figure[]>])[];

/** Figures that start their own contenders. */
const firstFigures: OfRun = [
  ["start", startUp],
  ["rest", atRestFigures],
];
const runFigures: OfRun = [
  ["streams", pacedStreams],
  ["translated", translatedStreams],
  ["catalog", longCatalog],
  ["console", besideConsole],
  ["shared", sharedLimits],
  ["changes", changeLatency],
  ["workers", twoWorkers],
  ["peers", comparePeers],
];

/** Figures that need the light upstream. */
const lightOnly: readonly FigureName[] = ["edit", "streams", "translated", "peers"];

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(usage);
  if (process.platform !== "linux") throw new Error("the bench reads /proc and runs on Linux only");
  endChildrenWithUs();
  const machine = describeMachine();
  const run = await startRun(options);
  const results = new Results(options.mode, new Date(), () => ({
    gateway: options.gateway,
    machine,
    pinned: run.cores,
    noise: run.noise.shares.length === 0 ? null : { ...quantiles(run.noise.shares), ...run.noise.tally() },
  }));
  const tell = async () =>
    console.log(`\n${results.table}\n\n${noiseLine(run.noise)}\nwritten to ${await results.keep()}`);
  setTimeout(() => {
    console.error(
      `the bench took longer than ${runMs[options.mode] / 60_000} minutes and was stopped; results so far:`,
    );
    void tell().finally(() => process.exit(1));
  }, runMs[options.mode]).unref();
  try {
    console.log(introduction(machine, run));
    await takeFigures(run, results);
    await tell();
    if (results.failed.length > 0) {
      console.error(`failed: ${results.failed.join(", ")}`);
      process.exitCode = 1;
    }
  } finally {
    await run.close();
  }
}

async function takeFigures(run: Run, results: Results): Promise<void> {
  const { only, simulator, peers } = run.options;
  const isRequested = (name: FigureName) =>
    (name === "peers" && peers) || (only.length === 0 ? name !== "peers" : only.includes(name));
  const wanted = (name: FigureName) => isRequested(name) && !(simulator && lightOnly.includes(name));
  for (const [name, take] of firstFigures) if (wanted(name)) await results.take(name, () => take(run));
  let lab: Lab | null = null;
  const closeLab = async (): Promise<void> => {
    await lab?.close();
    lab = null;
  };
  for (const [name, take] of labFigures) {
    if (!wanted(name)) continue;
    const good = await results.take(name, async () => {
      lab ??= await startLab(run);
      return take(lab);
    });
    // After a failure, the next figure gets new contenders.
    if (!good) await closeLab();
  }
  await closeLab();
  for (const [name, take] of runFigures) if (wanted(name)) await results.take(name, () => take(run));
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
