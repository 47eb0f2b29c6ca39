import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "./child.ts";
import { within } from "./deadline.ts";
import { Noise } from "./noise.ts";
import type { Options } from "./options.ts";

/** One run of the bench: its directory, core assignment and upstream. */
export interface Run {
  readonly options: Options;
  readonly cores: CorePlan;
  /** Directory for configuration, data and logs. On the disk of the checkout, because sync on a RAM disk is free. */
  readonly directory: string;
  readonly upstreamPort: number;
  /** File to which the upstream writes the attempts that it received. null: none. */
  readonly attemptsFile: string | null;
  readonly programs: Programs;
  readonly noise: Noise;
  close(): Promise<void>;
}

/** The contender has a dedicated core if there are two; upstream and load share the others. */
interface CorePlan {
  readonly contender: readonly number[];
  readonly upstream: readonly number[];
  readonly load: readonly number[];
}

/** Command lines of the bench programs. */
type Programs = (
  name:
    | "upstream"
    | "collector"
    | "probe"
    | "hostile-load"
    | "soak-load"
    | "stream-load"
    | "json-load"
    | "slow-edits"
    | "bare-proxy"
    | "socket-floor",
  spec: unknown,
) => readonly string[];

export const benchDirectory = join(import.meta.dir, "..");
export const rootDirectory = join(benchDirectory, "..");
const simulatorCommand = [process.execPath, join(rootDirectory, "simulator", "src", "main.ts")];
const upstreamStartMs = 10_000;

export async function startRun(options: Options, { keepsAttempts = false } = {}): Promise<Run> {
  const cores = planCores();
  const directory = join(benchDirectory, "results", `.run-${process.pid}`);
  mkdirSync(directory, { recursive: true });
  const programs: Programs = (name, spec) => [
    process.execPath,
    join(import.meta.dir, "programs", `${name}.ts`),
    JSON.stringify(spec),
  ];
  const attemptsFile = keepsAttempts ? join(directory, "attempts") : null;
  const command = options.simulator ? simulatorCommand : programs("upstream", { port: 0, attemptsFile });
  const upstream = startChild({ command, cores: cores.upstream });
  const { port } = await firstLine(upstream);
  return {
    options,
    cores,
    directory,
    upstreamPort: port,
    attemptsFile,
    programs,
    noise: new Noise(),
    close: async () => {
      await upstream.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function firstLine(upstream: Child): Promise<{ port: number }> {
  const line = await within(upstream.line(), upstreamStartMs, "the bench upstream's start");
  const started: { port: number } = JSON.parse(line ?? "null");
  return started;
}

function planCores(): CorePlan {
  const count = navigator.hardwareConcurrency;
  if (count < 2) return { contender: [], upstream: [], load: [] };
  return { contender: [0], upstream: [1], load: [count > 2 ? 2 : 1] };
}

/** A port that is currently free. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
