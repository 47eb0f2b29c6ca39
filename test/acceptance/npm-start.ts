import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile } from "@sluice/contract";
import { processTree } from "../../bench/src/process-tree.ts";
import { bareEnvironment } from "../bare-environment.ts";
import { patienceMs, until } from "../until.ts";
import { root } from "./child.ts";
import { freePort } from "./free-port.ts";

/** The target of a signal: one process of the chain that `npm` starts, or the whole group, as when a terminal sends it. */
export type Receiver = "npm" | "launcher" | "gateway" | "group";

/** A gateway started with an npm script, in its own process group. */
export interface NpmStarted {
  readonly url: string;
  readonly port: number;
  /** The folder of everything that it may write, including its temporary files. */
  readonly folder: string;
  output(): string;
  send(signal: NodeJS.Signals, receiver: Receiver): void;
  /** npm's exit status; after a signal, 128 plus its number. */
  readonly exited: Promise<number>;
  /** Resolves once all processes of the chain have ended. */
  allExited(): Promise<void>;
  /** Kills the remaining processes and removes the files. */
  remove(): Promise<void>;
}

/** How many run at the same time. They mostly wait, but each needs memory. */
const startedMax = 2;
let startedNow = 0;
const queue: (() => void)[] = [];

async function acquireSlot(): Promise<void> {
  if (startedNow < startedMax) startedNow += 1;
  else await new Promise<void>((resolve) => queue.push(resolve));
}

function releaseSlot(): void {
  const next = queue.shift();
  if (next === undefined) startedNow -= 1;
  else next();
}

/** The first one builds the console if it is missing, so the others wait for it. */
let first: Promise<unknown> | null = null;

/** Waits for a free slot. The caller must call `remove`. */
export async function npmStart(script: string, config: ConfigFile | null, env = {}): Promise<NpmStarted> {
  await acquireSlot();
  const started = first === null ? start(script, config, env) : first.then(() => start(script, config, env));
  first ??= started.catch(() => null);
  return started.catch((thrown: unknown) => {
    releaseSlot();
    throw thrown;
  });
}

async function start(script: string, config: ConfigFile | null, env: object): Promise<NpmStarted> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-npm-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(join(folder, "tmp"));
  if (config !== null) writeFileSync(join(folder, "sluice.json"), JSON.stringify(config));
  const npm = Bun.spawn(["npm", "run", script], {
    cwd: root,
    detached: true,
    env: {
      ...bareEnvironment(),
      HOME: folder,
      TMPDIR: join(folder, "tmp"),
      SLUICE_PORT: String(port),
      SLUICE_DATA_DIR: join(folder, "data"),
      SLUICE_LOG_LEVEL: "debug",
      SLUICE_LOG_FORMAT: "json",
      SLUICE_DRAIN_GRACE_MS: "0",
      ...(config === null ? {} : { SLUICE_CONFIG: join(folder, "sluice.json") }),
      ...env,
    },
    stdin: "ignore",
    stdout: Bun.file(join(folder, "out.log")),
    stderr: Bun.file(join(folder, "err.log")),
  });
  const output = (): string => `${readOr(join(folder, "out.log"))}${readOr(join(folder, "err.log"))}`;
  await until(async () => {
    if (npm.exitCode !== null) throw new Error(`npm ended:\n${output()}`);
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) }).catch(() => null);
    return answer?.ok === true ? true : null;
  });
  const chain = processTree(npm.pid);
  const pidOf = (script: string): number => {
    const match = chain.find((pid) => readOr(`/proc/${pid}/cmdline`).split("\0").slice(1).join(" ").includes(script));
    if (match === undefined) throw new Error(`no process of the chain runs ${script}`);
    return match;
  };
  const pids = {
    npm: npm.pid,
    launcher: pidOf("scripts/start.mjs"),
    gateway: pidOf("src/cli/cli.js"),
    group: -npm.pid,
  };
  const living = (): number[] => chain.filter((pid) => pid !== npm.pid && isAlive(pid));
  return {
    url,
    port,
    folder,
    output,
    send: (signal, receiver) => void process.kill(pids[receiver], signal),
    exited: npm.exited,
    allExited: async () => {
      await npm.exited;
      await until(() => (living().length === 0 ? true : null));
    },
    async remove() {
      for (const pid of [npm.pid, ...living()]) kill(pid);
      await npm.exited;
      rmSync(folder, { recursive: true, force: true });
      releaseSlot();
    },
  };
}

/** A zombie counts as ended. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readOr(`/proc/${pid}/status`));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
