import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { inTurn, type Lab } from "../lab.ts";
import { treeMemory } from "../process-tree.ts";
import { saturate } from "../saturate.ts";
import { targets } from "../targets.ts";

const sizes = [
  { name: "100 KB", bodyBytes: 100 * 1024, connections: 16 },
  { name: "600 KB", bodyBytes: 600 * 1024, connections: 8 },
  { name: "2 MB", bodyBytes: 2 * 1024 * 1024, connections: 4 },
] as const;

/** CPU time of a request with a large body: an agent's conversation, a chat with images. */
export async function largeBodies(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const figures: Figure[] = [];
  for (const { name, bodyBytes, connections } of sizes) {
    const load = { bodyBytes, connections, seconds: quick ? 1 : 3 };
    await saturate(lab.run, lab.sluice, load);
    const samples = await inTurn(lab, quick ? 2 : 5, (contender) => saturate(lab.run, contender, load));
    const cpuMicros = (of: "nginx" | "sluice") =>
      samples[of].map(({ value, cost }) => (cost.cpuMs * 1000) / value.requests);
    figures.push(
      figure(`CPU per governed ${name} request, over nginx`, ratios(cpuMicros("sluice"), cpuMicros("nginx")), {
        unit: "×",
        target: targets.cpuOfLargeCall,
        note: `nginx ${medianText(cpuMicros("nginx"))} µs, Sluice ${medianText(cpuMicros("sluice"))} µs`,
      }),
    );
  }
  const { residentKb, peakKb } = treeMemory(lab.sluice.pid);
  const note = `at most ${Math.round(peakKb / 1024)} MB`;
  return [
    ...figures,
    figure("Memory after large bodies", [residentKb / 1024], { unit: "MB", target: targets.largeMb, note }),
  ];
}
