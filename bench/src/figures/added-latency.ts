import { differences, type Figure, figure, medianText } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { type GentleLoad, type ProbeResults, probeContenders } from "../probe-contenders.ts";
import { targets } from "../targets.ts";

/** Latency that Sluice adds under light load: 50 requests per second, and one caller that sends requests back to back. */
export async function addedLatency(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const rounds = quick ? 1 : 3;
  const paced = { bodyBytes: 1024, everyMs: 20 / lab.contenders.length, inARow: 1, count: quick ? 200 : 500 };
  const single = { bodyBytes: 1024, everyMs: 0, inARow: 50, count: quick ? 1_500 : 4_000 };
  return [
    ...(await compare(lab, "at 50 requests/s", paced, { rounds, hasTarget: true })),
    ...(await compare(lab, "on one busy connection", single, { rounds, hasTarget: false })),
  ];
}

async function compare(
  lab: Lab,
  name: string,
  load: GentleLoad,
  { rounds, hasTarget }: { rounds: number; hasTarget: boolean },
): Promise<Figure[]> {
  const samples: ProbeResults[] = [];
  for (let round = 0; round < rounds; round++) samples.push(await probeContenders(lab, load));
  return (["p50", "p99"] as const).map((quantile) => {
    const of = (who: "direct" | "nginx" | "sluice") => samples.flatMap((result) => result[who]?.total[quantile] ?? []);
    return figure(`Added latency ${name}, ${quantile}`, differences(of("sluice"), of("direct")), {
      unit: "ms",
      target: hasTarget ? targets.addedMs[quantile] : null,
      note: `direct ${medianText(of("direct"))}, nginx ${medianText(of("nginx"))}, Sluice ${medianText(of("sluice"))} ms`,
    });
  });
}
