import { join } from "node:path";
import { runChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { startSluice } from "../contenders/sluice.ts";
import { limitedKey } from "../contenders/sluice-config.ts";
import { type Figure, figure, formatNumber, medianText } from "../figure.ts";
import { type HostileName, hostileNames } from "../hostile-requests.ts";
import type { Lab } from "../lab.ts";
import { runProbe } from "../probe-contenders.ts";
import type { HostileAnswer, HostileSpec } from "../programs/hostile-load.ts";
import { freePort, type Run, rootDirectory } from "../run.ts";
import { targets } from "../targets.ts";

const times = 4;
const gapMs = 100;

/**
 * Whether one caller can block others: while hostile bodies arrive one by one, a small request is sent every two milliseconds, and its
 * slowest response counts. The same bodies sent directly to the upstream, which does not parse them, show the share of the machine.
 * The longest turn of the gateway's event loop in CPU time is measured as well, which does not depend on other load.
 */
export async function hostile(lab: Lab): Promise<Figure[]> {
  const { run } = lab;
  const rounds = run.options.mode === "quick" ? 1 : 2;
  const slowest: number[] = [];
  const straight: number[] = [];
  const turns: number[] = [];
  const byName = new Map<HostileName, number[]>();
  const turnsByName = new Map<HostileName, number[]>();
  const watched = await startWatched(run);
  try {
    // Warms up: the first run includes parsing and compilation.
    for (const name of hostileNames) await send(run, watched.sluice, name, 1);
    for (let round = 0; round < rounds; round++) {
      const ours: number[] = [];
      const theirs: number[] = [];
      for (const name of hostileNames) {
        await watched.longestTurn();
        const slow = await slowestBeside(run, watched.sluice, name);
        const turn = await watched.longestTurn();
        ours.push(slow);
        byName.set(name, [...(byName.get(name) ?? []), slow]);
        if (turn !== null) turnsByName.set(name, [...(turnsByName.get(name) ?? []), turn]);
        theirs.push(await slowestBeside(run, lab.direct, name));
      }
      slowest.push(Math.max(...ours));
      straight.push(Math.max(...theirs));
      if (turnsByName.size > 0)
        turns.push(Math.max(...[...turnsByName.values()].map((samples) => samples[round] ?? 0)));
    }
  } finally {
    await watched.sluice.stop();
  }
  const textOf = (samples: Map<HostileName, number[]>): string =>
    [...samples].map(([name, each]) => `${name} ${medianText(each)}`).join(", ");
  const latency = figure("Slowest small response during a hostile request", slowest, {
    unit: "ms",
    target: targets.stallMs,
    note: `${textOf(byName)}; direct ${formatNumber(Math.max(...straight))} ms`,
  });
  if (turns.length === 0) return [latency];
  const loop = figure("Longest turn of the event loop, CPU time", turns, {
    unit: "ms",
    target: targets.stallMs,
    note: textOf(turnsByName),
  });
  return [latency, loop];
}

interface Watched {
  readonly sluice: Contender;
  /** Longest turn since the last call, in milliseconds of CPU time. null: not available. */
  longestTurn(): Promise<number | null>;
}

/** Starts a gateway with a monitor of its event loop. Not possible with a built executable. */
async function startWatched(run: Run): Promise<Watched> {
  if (run.options.gateway !== null) return { sluice: await startSluice(run), longestTurn: async () => null };
  const port = freePort();
  const preload = join(rootDirectory, "test/acceptance/loop-watch.ts");
  const env = { BUN_OPTIONS: `--preload ${preload}`, LOOP_WATCH_PORT: String(port) };
  return {
    sluice: await startSluice(run, { env }),
    async longestTurn() {
      const answer = (await (await fetch(`http://127.0.0.1:${port}`)).json()) as { readonly longest_ms: number };
      return answer.longest_ms;
    },
  };
}

async function slowestBeside(run: Run, contender: Contender, body: HostileName): Promise<number> {
  const { name, port, key } = contender;
  const small = { name, port, key, bodyBytes: 1024 };
  const [results] = await Promise.all([
    runProbe(run, [{ targets: [small], everyMs: 2, inARow: 1, count: 600, warmUp: 50 }], 30_000),
    send(run, contender, body, times),
  ]);
  return results[0]?.total.max ?? Number.NaN;
}

async function send(run: Run, { port, key }: Contender, name: HostileName, count: number): Promise<void> {
  const spec: HostileSpec = { port, key, limitedKey, name, times: count, gapMs };
  const command = run.programs("hostile-load", spec);
  const { statuses } = await runChild<HostileAnswer>({ command, cores: run.cores.load }, 60_000);
  // 502: the light upstream has no complete response in the Messages format. The translation of the call, which is measured, is done by then.
  const unexpected = statuses.find((status) => ![200, 400, 404, 413, 415, 429, 502].includes(status));
  if (unexpected !== undefined) throw new Error(`${name} returned ${unexpected}`);
}
