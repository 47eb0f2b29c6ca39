import { startSluice } from "../contenders/sluice.ts";
import { type Figure, figure } from "../figure.ts";
import { treeMemory } from "../process-tree.ts";
import type { Run } from "../run.ts";

/** From the start of the process to its first good answer, on an empty and on a used data directory; and memory at rest. */
export async function startUp(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const first: number[] = [];
  const later: number[] = [];
  const idle: number[] = [];
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    const fresh = await startSluice(run);
    first.push(fresh.firstAnswerMs);
    await fresh.stop();
    const again = await startSluice(run, { dataDirectory: fresh.dataDirectory });
    later.push(again.firstAnswerMs);
    await Bun.sleep(quick ? 1_000 : 5_000);
    idle.push(treeMemory(again.pid).residentKb / 1024);
    await again.stop();
  }
  const note = run.options.gateway === null ? "run from source, not built" : "";
  return [
    figure("Start to first answer", later, { unit: "ms", target: { most: 1_000 }, note }),
    figure("Very first start (makes the database) to first answer", first, { unit: "ms", note }),
    figure("Idle memory after a start", idle, {
      unit: "MB",
      target: { most: 120 },
      note: "after 30 minutes of load: see the soak program",
    }),
  ];
}
