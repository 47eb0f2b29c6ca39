import { join } from "node:path";
import type { Contender } from "./contender.ts";
import { direct } from "./contenders/direct.ts";
import { startNginx } from "./contenders/nginx.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { type Cost, measure } from "./measure.ts";
import { benchDirectory, type Run } from "./run.ts";

/** The contenders of a figure, asked in turn (A B C A B C …), so that the machine's moods fall on all of them alike. */
export interface Lab {
  readonly run: Run;
  readonly direct: Contender;
  /** Null where nginx is not installed. */
  readonly nginx: Contender | null;
  readonly sluice: Sluice;
  readonly contenders: readonly Contender[];
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

/** Samples by contender, in the order of the rounds. */
export type Samples<Value> = Readonly<Record<Contender["name"], readonly Value[]>>;

export async function inTurn<Value>(
  lab: Lab,
  rounds: number,
  act: (contender: Contender) => Promise<Value>,
): Promise<Samples<{ value: Value; cost: Cost }>> {
  const taken: Record<Contender["name"], { value: Value; cost: Cost }[]> = { direct: [], nginx: [], sluice: [] };
  for (let round = 0; round < rounds; round++) {
    for (const contender of lab.contenders) {
      const sample = await lab.run.noise.undisturbed(() => measure(contender, () => act(contender)));
      lab.run.noise.shares.push(sample.cost.foreignShare);
      taken[contender.name].push(sample);
    }
  }
  return taken;
}

export function profileDirectory(): string {
  return join(benchDirectory, "results", "profile");
}
