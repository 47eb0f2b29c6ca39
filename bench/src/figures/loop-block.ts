import type { LabName } from "../contender.ts";
import { type Figure, figure, medianText } from "../figure.ts";
import type { Lab } from "../lab.ts";
import { runProbe } from "../probe-contenders.ts";
import { targets } from "../targets.ts";

/**
 * How long a 2 MB request blocks other calls: while one arrives ten times a second, a small request is sent every two milliseconds. The
 * slowest response is an upper bound for how long the event loop was blocked.
 */
export async function loopBlock(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const count = quick ? 600 : 2_500;
  const worst: Record<LabName, number[]> = { direct: [], nginx: [], sluice: [] };
  const usual: Record<LabName, number[]> = { direct: [], nginx: [], sluice: [] };
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const { name, port, key } of lab.contenders) {
      const small = { name: "small", port, key, bodyBytes: 1024 };
      const large = { name: "large", port, key, bodyBytes: 2 * 1024 * 1024 };
      const results = await runProbe(
        lab.run,
        [
          { targets: [large], everyMs: 100, inARow: 1, count: (count * 2) / 100, warmUp: 5 },
          { targets: [small], everyMs: 2, inARow: 1, count, warmUp: 100 },
        ],
        count * 20,
      );
      const result = results.find((one) => one.name === "small");
      worst[name].push(result?.total.max ?? Number.NaN);
      usual[name].push(result?.total.p99 ?? Number.NaN);
    }
  }
  return [
    figure("Slowest small response during 2 MB requests", worst.sluice, {
      unit: "ms",
      target: targets.stallMs,
      note:
        `nginx ${medianText(worst.nginx)}, direct ${medianText(worst.direct)} ms; ` +
        `p99: Sluice ${medianText(usual.sluice)}, nginx ${medianText(usual.nginx)}, direct ${medianText(usual.direct)} ms`,
    }),
  ];
}
