import { join } from "node:path";
import { runChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { startSluice } from "../contenders/sluice.ts";
import { limitedKey } from "../contenders/sluice-config.ts";
import { type Figure, figure, middle, say } from "../figure.ts";
import { type HostileName, hostileNames } from "../hostile-requests.ts";
import type { Lab } from "../lab.ts";
import { runProbe } from "../probe-contenders.ts";
import type { HostileAnswer, HostileSpec } from "../programs/hostile-load.ts";
import { freePort, type Run, rootDirectory } from "../run.ts";
import { targets } from "../targets.ts";

const times = 4;
const gapMs = 100;

/**
 * Whether one caller can hold up the others: while hostile bodies come one by one, a small request is asked every two
 * milliseconds, and the slowest of all its answers is what counts. The same bodies sent straight to the upstream, which
 * does not look into them, show how much of it is the machine. Beside it stands what the gateway's event loop spent on
 * one of its turns, in processor time: that part no machine adds to.
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
    // Code that runs for the first time is read and compiled first.
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
  const said = (samples: Map<HostileName, number[]>): string =>
    [...samples].map(([name, each]) => `${name} ${middle(each)}`).join(", ");
  const latency = figure("Slowest small answer beside a hostile request", slowest, {
    unit: "ms",
    target: targets.stallMs,
    note: `${said(byName)}; direct ${say(Math.max(...straight))} ms`,
  });
  if (turns.length === 0) return [latency];
  const loop = figure("Longest turn of the event loop, processor time", turns, {
    unit: "ms",
    target: targets.stallMs,
    note: said(turnsByName),
  });
  return [latency, loop];
}

interface Watched {
  readonly sluice: Contender;
  /** Milliseconds of processor time since it was last asked; null where nobody can look. */
  longestTurn(): Promise<number | null>;
}

/** A gateway whose event loop is looked at from within. A built one cannot be. */
async function startWatched(run: Run): Promise<Watched> {
  if (run.options.gateway !== null) return { sluice: await startSluice(run), longestTurn: async () => null };
  const port = freePort();
  const preload = join(rootDirectory, "test/acceptance/loop-watch.ts");
  const env = { BUN_OPTIONS: `--preload ${preload}`, LOOP_WATCH_PORT: String(port) };
  return {
    sluice: await startSluice(run, { env }),
    async longestTurn() {
      const told = (await (await fetch(`http://127.0.0.1:${port}`)).json()) as { readonly longest_ms: number };
      return told.longest_ms;
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
  // 502: the light upstream has no whole answer in messages; by then the call was translated, which is what costs.
  const unexpected = statuses.find((status) => ![200, 400, 404, 413, 415, 429, 502].includes(status));
  if (unexpected !== undefined) throw new Error(`${name} was answered with ${unexpected}`);
}
