import { imageModel } from "../call-request.ts";
import { startChild } from "../child.ts";
import type { LabName } from "../contender.ts";
import { startSluice } from "../contenders/sluice.ts";
import { within } from "../deadline.ts";
import { type Figure, figure, formatNumber, medianText } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { measure } from "../measure.ts";
import { runProbe } from "../probe-contenders.ts";
import { treeMemory } from "../process-tree.ts";
import type { SlowEditsResult, SlowEditsSpec } from "../programs/slow-edits.ts";
import type { Run } from "../run.ts";
import { spread } from "../statistics.ts";
import { targets } from "../targets.ts";

const MB = 1024 * 1024;

interface Size {
  readonly name: string;
  readonly bodyBytes: number;
  /** Interval of the forms while small requests are measured. */
  readonly everyMs: number;
  /** Number of concurrent slow uploads. */
  readonly atOnce: number;
  readonly uploadMs: number;
  /** Memory limit for each. null: uncollected garbage would hide the memory that is really held. */
  readonly eachMbMax: number | null;
}

const twoMb: Size = { name: "2 MB", bodyBytes: 2 * MB, everyMs: 100, atOnce: 200, uploadMs: 6_000, eachMbMax: 1 };
const twentyMb: Size = {
  name: "20 MB",
  bodyBytes: 20 * MB,
  everyMs: 1_000,
  atOnce: 50,
  uploadMs: 10_000,
  eachMbMax: null,
};
const sizes: Readonly<Record<"quick" | "full", readonly Size[]>> = { quick: [twoMb], full: [twoMb, twentyMb] };

/** Effect of image edits on other calls, and their memory during the upload. The model is the last field. */
export async function formEdits(lab: Lab): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const size of sizes[lab.run.options.mode]) {
    figures.push(await slowestBeside(lab, size), await memoryOfEach(lab.run, size));
  }
  return figures;
}

/** Sends a small request every two milliseconds. The slowest response is an upper bound for how long the event loop was blocked. */
async function slowestBeside(lab: Lab, { name, bodyBytes, everyMs }: Size): Promise<Figure> {
  const quick = lab.run.options.mode === "quick";
  const count = quick ? 1_000 : 2_000;
  const worst: Record<LabName, number[]> = { direct: [], nginx: [], sluice: [] };
  const usual: Record<LabName, number[]> = { direct: [], nginx: [], sluice: [] };
  for (let round = 0; round < 3; round++) {
    for (const contender of lab.contenders) {
      const { name: who, port, key } = contender;
      const small = { name: "small", port, key, bodyBytes: 1024 };
      const edit = { name: "edit", port, key, caller: "edit" as const, model: imageModel, bodyBytes };
      const lanes = [
        { targets: [edit], everyMs, inARow: 1, count: Math.ceil((count * 2) / everyMs), warmUp: 3 },
        { targets: [small], everyMs: 2, inARow: 1, count, warmUp: 100 },
      ];
      const { value: results, cost } = await measure(contender, () => runProbe(lab.run, lanes, count * 20));
      lab.run.noise.shares.push(cost.foreignShare);
      const result = results.find((one) => one.name === "small");
      worst[who].push(result?.total.max ?? Number.NaN);
      usual[who].push(result?.total.p99 ?? Number.NaN);
    }
  }
  return figure(`Slowest small response during ${name} forms`, worst.sluice, {
    unit: "ms",
    target: targets.stallMs,
    note:
      `nginx ${medianText(worst.nginx)}, direct ${medianText(worst.direct)} ms; ` +
      `p99: Sluice ${medianText(usual.sluice)}, nginx ${medianText(usual.nginx)}, direct ${medianText(usual.direct)} ms`,
  });
}

/**
 * Peak growth of the gateway's resident memory per form while many forms are uploaded at once. It includes 60 to 100 MB of uncollected
 * garbage, so many forms are needed for a useful average.
 */
async function memoryOfEach(run: Run, { name, bodyBytes, atOnce, uploadMs, eachMbMax }: Size): Promise<Figure> {
  const grown: number[] = [];
  const resting: number[] = [];
  for (let round = 0; round < (run.options.mode === "quick" || eachMbMax === null ? 1 : 2); round++) {
    // A new process each time, because memory from before would be reused and hide the growth.
    const sluice = await startSluice(run);
    try {
      const spec = { port: sluice.port, key: sluice.key, bodyBytes, uploadMs, holdMs: 500 };
      await upload(run, { ...spec, edits: 2, uploadMs: 200, holdMs: 0 }, () => {});
      await Bun.sleep(300);
      const before = treeMemory(sluice.pid).residentKb;
      let most = before;
      await upload(run, { ...spec, edits: atOnce }, () => {
        most = Math.max(most, treeMemory(sluice.pid).residentKb);
      });
      grown.push((most - before) / 1024 / atOnce);
      resting.push((treeMemory(sluice.pid).residentKb - before) / 1024);
    } finally {
      await sluice.stop();
    }
  }
  const together = (spread(grown)?.median ?? Number.NaN) * atOnce;
  return figure(`Memory of each of ${atOnce} slow ${name} forms at once`, grown, {
    unit: "MB",
    target: eachMbMax === null ? null : { most: eachMbMax },
    note: `${formatNumber(together)} MB in all, of ${(atOnce * bodyBytes) / MB} MB on their way; afterwards ${medianText(resting)} MB are kept`,
  });
}

async function upload(run: Run, spec: SlowEditsSpec, watch: () => void): Promise<void> {
  const child = startChild({ command: run.programs("slow-edits", spec), cores: run.cores.load });
  const timer = setInterval(watch, 20);
  try {
    const what = `${spec.edits} slow forms`;
    await within(child.line(), spec.uploadMs + 30_000, `${what}: uploading`);
    const line = await within(child.line(), spec.holdMs + spec.uploadMs + 30_000, `${what}: ending`);
    const result: SlowEditsResult = JSON.parse(line ?? "null");
    if (result.failed > 0) throw new Error(`${what}: ${result.failed} failed`);
  } finally {
    clearInterval(timer);
    await child.stop(500);
  }
}
