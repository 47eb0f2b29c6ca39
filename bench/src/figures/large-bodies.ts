import { type Figure, figure, middle, ratios } from "../figure.ts";
import { inTurn, type Lab } from "../lab.ts";
import { treeMemory } from "../process-tree.ts";
import { saturate } from "../saturate.ts";
import { targets } from "../targets.ts";

const sizes = [
  { name: "100 KB", bodyBytes: 100 * 1024, connections: 16 },
  { name: "2 MB", bodyBytes: 2 * 1024 * 1024, connections: 4 },
] as const;

/** What a governed request with a long body costs: a conversation of an agent, a chat with pictures. */
export async function largeBodies(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const figures: Figure[] = [];
  for (const { name, bodyBytes, connections } of sizes) {
    const load = { bodyBytes, connections, seconds: quick ? 1 : 3 };
    await saturate(lab.run, lab.sluice, load);
    const taken = await inTurn(lab, quick ? 2 : 5, (contender) => saturate(lab.run, contender, load));
    const cpuMicros = (of: "nginx" | "sluice") =>
      taken[of].map(({ value, cost }) => (cost.cpuMs * 1000) / value.requests);
    figures.push(
      figure(`CPU per governed ${name} request, over nginx`, ratios(cpuMicros("sluice"), cpuMicros("nginx")), {
        unit: "×",
        target: targets.cpuOfLargeCall,
        note: `nginx ${middle(cpuMicros("nginx"))} µs, Sluice ${middle(cpuMicros("sluice"))} µs`,
      }),
    );
  }
  const { residentKb, peakKb } = treeMemory(lab.sluice.pid);
  const note = `at most ${Math.round(peakKb / 1024)} MB`;
  return [...figures, figure("Memory after large bodies", [residentKb / 1024], { unit: "MB", note })];
}
