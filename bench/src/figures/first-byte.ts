import { differences, type Figure, figure, medianText } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { type ProbeResults, probeContenders } from "../probe-contenders.ts";
import { targets } from "../targets.ts";

/** Added time to the first body byte of a stream. The upstream sends its first event immediately. */
export async function firstByte(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const load = {
    bodyBytes: 1024,
    stream: { gapMs: 2, eventsMax: 3 },
    everyMs: 4,
    inARow: 1,
    count: quick ? 200 : 500,
  };
  const samples: ProbeResults[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) samples.push(await probeContenders(lab, load));
  return (
    [
      ["p50", null],
      ["p99", targets.firstByteP99Ms],
    ] as const
  ).map(([quantile, target]) => {
    const of = (who: "direct" | "nginx" | "sluice") =>
      samples.flatMap((result) => result[who]?.firstBody[quantile] ?? []);
    return figure(`Added time to the first streamed byte, ${quantile}`, differences(of("sluice"), of("direct")), {
      unit: "ms",
      target,
      note: `direct ${medianText(of("direct"))}, nginx ${medianText(of("nginx"))}, Sluice ${medianText(of("sluice"))} ms`,
    });
  });
}
