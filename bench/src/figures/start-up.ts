import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { measure } from "../measure.ts";
import { runProbe } from "../probe-contenders.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";
import { targets } from "../targets.ts";
import { warmUp } from "../warm-up.ts";

/**
 * Time from process start to the first successful response, with an empty and a used data directory; idle memory; and the additional
 * cost of the first thousand calls compared with a thousand later ones.
 */
export async function startUp(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const first: number[] = [];
  const later: number[] = [];
  const idle: number[] = [];
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    const fresh = await startSluice(run);
    first.push(fresh.firstAnswerMs);
    await fresh.stop();
    const again = await startSluice(run, { dataDirectory: fresh.dataDirectory });
    later.push(again.firstAnswerMs);
    await Bun.sleep(quick ? 1_000 : 5_000);
    idle.push(treeMemory(again.pid).residentKb / 1024);
    cold.push(await microsOfThousand(run, again));
    await warmUp(run, again, { bodyBytes: 1024, connections: 32, seconds: 2 });
    warm.push(await microsOfThousand(run, again));
    await again.stop();
  }
  const note = run.options.gateway === null ? "the program of `npm start`" : "";
  return [
    figure("Start to first response", later, { unit: "ms", target: targets.startMs, note }),
    figure("First start (creates the database) to first response", first, { unit: "ms", note }),
    figure("Idle memory after a start", idle, {
      unit: "MB",
      target: targets.idleMb,
      note: "after 30 minutes of load: see the soak program",
    }),
    figure("CPU per call of the first thousand, over later ones", ratios(cold, warm), {
      unit: "×",
      target: targets.coldCall,
      note: `${medianText(cold)} and ${medianText(warm)} µs, sent by one caller`,
    }),
  ];
}

/** CPU time of each of a thousand sequential calls. */
async function microsOfThousand(run: Run, { name, port, key, ...rest }: Sluice): Promise<number> {
  const count = 1_000;
  const lane = { targets: [{ name, port, key, bodyBytes: 1024 }], everyMs: 0, inARow: 50, count, warmUp: 0 };
  const { cost } = await measure({ name, port, key, ...rest }, () => runProbe(run, [lane], 60_000));
  return (cost.cpuMs * 1_000) / count;
}
