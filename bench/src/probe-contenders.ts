import type { StreamShape } from "./call-request.ts";
import { runChild } from "./child.ts";
import type { Contender, LabName } from "./contender.ts";
import type { Lab } from "./lab.ts";
import type { ProbeLane, ProbeResult, ProbeSpec } from "./programs/probe.ts";
import type { Run } from "./run.ts";

export type ProbeResults = Readonly<Record<LabName, ProbeResult | null>>;

export interface GentleLoad {
  readonly bodyBytes: number;
  readonly delayMs?: number;
  readonly stream?: StreamShape;
  readonly everyMs: number;
  readonly inARow: number;
  readonly count: number;
}

const warmUp = 100;

/** Measures the latency of all contenders in turn under light load. */
export async function probeContenders(lab: Lab, load: GentleLoad): Promise<ProbeResults> {
  const results = await probeInTurn(lab.run, lab.contenders, load);
  const of = (name: LabName) => results.find((result) => result.name === name) ?? null;
  return { direct: of("direct"), nginx: of("nginx"), sluice: of("sluice") };
}

/** The same with any contenders. */
export async function probeInTurn(
  run: Run,
  contenders: readonly Contender[],
  { everyMs, inARow, count, ...shape }: GentleLoad,
): Promise<ProbeResult[]> {
  const targets = contenders.map(({ name, port, key, headers = [] }) => ({ name, port, key, headers, ...shape }));
  const requests = (count + warmUp) * targets.length;
  const timeoutMs = requests * (everyMs + 20 + (shape.delayMs ?? 0));
  return runProbe(run, [{ targets, everyMs, inARow, count, warmUp }], timeoutMs);
}

export async function runProbe(run: Run, lanes: readonly ProbeLane[], timeoutMs: number): Promise<ProbeResult[]> {
  const spec: ProbeSpec = { lanes };
  const command = run.programs("probe", spec);
  const results = await run.noise.undisturbed(() =>
    runChild<ProbeResult[][]>({ command, cores: run.cores.load }, timeoutMs + 20_000),
  );
  for (const { name, failed } of results.flat()) if (failed > 0) throw new Error(`${name} failed ${failed} requests`);
  return results.flat();
}
