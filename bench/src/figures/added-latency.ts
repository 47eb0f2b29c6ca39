import { differences, type Figure, figure, middle } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { type GentleLoad, type ProbeResults, probeContenders } from "../probe-contenders.ts";

/** What Sluice adds to an answer's time when it has little to do: 50 requests a second, and one caller that asks again and again. */
export async function addedLatency(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const rounds = quick ? 1 : 3;
  const targets = lab.contenders.length;
  const paced = { bodyBytes: 1024, everyMs: 20 / targets, inARow: 1, count: quick ? 200 : 500 };
  const single = { bodyBytes: 1024, everyMs: 0, inARow: 50, count: quick ? 1_500 : 4_000 };
  return [
    ...(await compare(lab, "at 50 requests/s", paced, rounds)),
    ...(await compare(lab, "on one busy connection", single, rounds)),
  ];
}

async function compare(lab: Lab, name: string, load: GentleLoad, rounds: number): Promise<Figure[]> {
  const taken: ProbeResults[] = [];
  for (let round = 0; round < rounds; round++) taken.push(await probeContenders(lab, load));
  return (
    [
      ["p50", 0.5],
      ["p99", 2],
    ] as const
  ).map(([quantile, most]) => {
    const of = (who: "direct" | "nginx" | "sluice") => taken.flatMap((result) => result[who]?.total[quantile] ?? []);
    return figure(`Added latency ${name}, ${quantile}`, differences(of("sluice"), of("direct")), {
      unit: "ms",
      target: { most },
      note: `direct ${middle(of("direct"))}, nginx ${middle(of("nginx"))}, Sluice ${middle(of("sluice"))} ms`,
    });
  });
}
