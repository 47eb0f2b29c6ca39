import { join } from "node:path";
import type { Contender, LabName } from "./contender.ts";
import { direct } from "./contenders/direct.ts";
import { startNginx } from "./contenders/nginx.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { type Cost, measure } from "./measure.ts";
import { benchDirectory, type Run } from "./run.ts";

/** The contenders of a figure, measured in turn (A B C A B C …), so that other load affects each of them equally. */
export interface Lab {
  readonly run: Run;
  readonly direct: Contender<"direct">;
  /** null: nginx is not installed. */
  readonly nginx: Contender<"nginx"> | null;
  readonly sluice: Sluice;
  readonly contenders: readonly Contender<LabName>[];
  close(): Promise<void>;
}

export async function startLab(run: Run): Promise<Lab> {
  const sluice = await startSluice(run, run.options.profile ? { profileDirectory: profileDirectory() } : {});
  const nginx = await startNginx(run);
  const upstream = direct(run);
  return {
    run,
    direct: upstream,
    nginx,
    sluice,
    contenders: nginx === null ? [upstream, sluice] : [upstream, nginx, sluice],
    close: async () => {
      await nginx?.stop();
      await sluice.stop();
    },
  };
}

/** A result with its cost. */
export interface Sample<Value> {
  readonly value: Value;
  readonly cost: Cost;
}

/** Samples by contender, in the order of the rounds. */
export async function inTurn<Value>(
  lab: Lab,
  rounds: number,
  act: (contender: Contender) => Promise<Value>,
): Promise<Readonly<Record<LabName, readonly Sample<Value>[]>>> {
  const samples = await sampleInTurn(lab.run, lab.contenders, rounds, act);
  const of = (name: LabName) => samples.get(name) ?? [];
  return { direct: of("direct"), nginx: of("nginx"), sluice: of("sluice") };
}

/** The same with any contenders. */
export async function sampleInTurn<Name extends string, Value>(
  run: Run,
  contenders: readonly Contender<Name>[],
  rounds: number,
  act: (contender: Contender<Name>) => Promise<Value>,
): Promise<ReadonlyMap<Name, readonly Sample<Value>[]>> {
  const samples = new Map(contenders.map(({ name }) => [name, [] as Sample<Value>[]]));
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      const sample = await run.noise.undisturbed(() => measure(contender, () => act(contender)));
      run.noise.shares.push(sample.cost.foreignShare);
      samples.get(contender.name)?.push(sample);
    }
  }
  return samples;
}

export function profileDirectory(): string {
  return join(benchDirectory, "results", "profile");
}
