import { runChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { type Figure, figure, middle, say } from "../figure.ts";
import { type HostileName, hostileNames } from "../hostile-bodies.ts";
import type { Lab } from "../lab.ts";
import { runProbe } from "../probe-contenders.ts";
import type { HostileAnswer, HostileSpec } from "../programs/hostile-load.ts";

const times = 4;
const gapMs = 100;

/**
 * Whether one caller can hold up the others: while hostile bodies come one by one, a small request is asked every two
 * milliseconds, and the slowest of all its answers is what counts. The same bodies sent straight to the upstream, which
 * does not look into them, show how much of it is the machine.
 */
export async function hostile(lab: Lab): Promise<Figure[]> {
  const rounds = lab.run.options.mode === "quick" ? 1 : 3;
  const slowest: number[] = [];
  const straight: number[] = [];
  const byName = new Map<HostileName, number[]>();
  for (let round = 0; round < rounds; round++) {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (const name of hostileNames) {
      const slow = await slowestBeside(lab, lab.sluice, name);
      ours.push(slow);
      byName.set(name, [...(byName.get(name) ?? []), slow]);
      theirs.push(await slowestBeside(lab, lab.direct, name));
    }
    slowest.push(Math.max(...ours));
    straight.push(Math.max(...theirs));
  }
  const each = [...byName].map(([name, samples]) => `${name} ${middle(samples)}`);
  return [
    figure("Slowest small answer beside a hostile request", slowest, {
      unit: "ms",
      target: { most: 20 },
      note: `${each.join(", ")}; direct ${say(Math.max(...straight))} ms`,
    }),
  ];
}

async function slowestBeside(lab: Lab, { name, port, key }: Contender, body: HostileName): Promise<number> {
  const spec: HostileSpec = { port, key, name: body, times, gapMs };
  const small = { name, port, key, bodyBytes: 1024 };
  const [results, { statuses }] = await Promise.all([
    runProbe(lab.run, [{ targets: [small], everyMs: 2, inARow: 1, count: 600, warmUp: 50 }], 30_000),
    runChild<HostileAnswer>({ command: lab.run.programs("hostile-load", spec), cores: lab.run.cores.load }, 60_000),
  ]);
  // 502: the light upstream has no whole answer in messages; by then the call was translated, which is what costs.
  const unexpected = statuses.find((status) => ![200, 400, 413, 502].includes(status));
  if (unexpected !== undefined) throw new Error(`${body} was answered with ${unexpected}`);
  return results[0]?.total.max ?? Number.NaN;
}
