import { startSluice } from "../contenders/sluice.ts";
import { type Figure, figure } from "../figure.ts";
import { ProcessTime } from "../process-time.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { targets } from "../targets.ts";

/** CPU and memory of an idle gateway, measured after its startup work is done, some two minutes later. */
export async function atRestFigures(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const sluice = await startSluice(run);
  try {
    await Bun.sleep(quick ? 5_000 : 105_000);
    const time = new ProcessTime(sluice.pid);
    const before = { ...time.read(), at: performance.now() };
    await Bun.sleep(quick ? 10_000 : 45_000);
    const after = time.read();
    const percent = (micros: number): number => micros / 10 / (performance.now() - before.at);
    const { residentKb, peakKb } = treeMemory(sluice.pid);
    return [
      figure("Idle: CPU of the gateway", [percent(after.whole - before.whole)], {
        unit: "% of a core",
        target: targets.idlePercentOfCore,
        note: `its event loop ${percent(after.loop - before.loop).toFixed(2)} %`,
      }),
      figure("Idle: memory of the gateway", [residentKb / 1024], {
        unit: "MB",
        target: targets.idleMb,
        note: `it was started with a config file and has answered one call; at most ${Math.round(peakKb / 1024)} MB`,
      }),
    ];
  } finally {
    await sluice.stop();
  }
}
