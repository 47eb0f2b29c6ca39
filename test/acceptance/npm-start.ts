import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile } from "@sluice/contract";
import { processTree } from "../../bench/src/process-tree.ts";
import { bareEnvironment } from "../bare-environment.ts";
import { patienceMs, until } from "../until.ts";
import { root } from "./child.ts";
import { freePort } from "./free-port.ts";

/** Whom a signal is sent to: one process of the chain that `npm` starts, or all of them at once, as a terminal does. */
export type Receiver = "npm" | "launcher" | "gateway" | "group";

/** A gateway started by an npm script, in a process group of its own. */
export interface NpmStarted {
  readonly url: string;
  readonly port: number;
  /** Everything that it may write to, its temporary folder included. */
  readonly folder: string;
  output(): string;
  send(signal: NodeJS.Signals, receiver: Receiver): void;
  /** npm's own exit status; a signal gives 128 and its number. */
  readonly exited: Promise<number>;
  /** Resolves when no process of the chain lives any more. */
  gone(): Promise<void>;
  /** Ends and removes whatever is left. */
  remove(): Promise<void>;
}

/** So many at once: they wait more than they work, but a machine has an end. */
const startedMax = 2;
let startedNow = 0;
const queue: (() => void)[] = [];

async function turn(): Promise<void> {
  if (startedNow < startedMax) startedNow += 1;
  else await new Promise<void>((resolve) => queue.push(resolve));
}

function nextTurn(): void {
  const next = queue.shift();
  if (next === undefined) startedNow -= 1;
  else next();
}

/** It builds the console where that is missing; the others must find it. */
let first: Promise<unknown> | null = null;

/** Waits for its turn; whoever has started one removes it. */
export async function npmStart(script: string, config: ConfigFile | null, env = {}): Promise<NpmStarted> {
  await turn();
  const started = first === null ? start(script, config, env) : first.then(() => start(script, config, env));
  first ??= started.catch(() => null);
  return started.catch((thrown: unknown) => {
    nextTurn();
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
  const named = (mark: string): number => {
    const found = chain.find((pid) => readOr(`/proc/${pid}/cmdline`).split("\0").slice(1).join(" ").includes(mark));
    if (found === undefined) throw new Error(`no process of the chain runs ${mark}`);
    return found;
  };
  const pids = {
    npm: npm.pid,
    launcher: named("scripts/start.mjs"),
    gateway: named("src/cli/cli.ts"),
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
    gone: async () => {
      await npm.exited;
      await until(() => (living().length === 0 ? true : null));
    },
    async remove() {
      for (const pid of [npm.pid, ...living()]) killed(pid);
      await npm.exited;
      rmSync(folder, { recursive: true, force: true });
      nextTurn();
    },
  };
}

/** A zombie, which waits for whoever adopted it, does nothing any more. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readOr(`/proc/${pid}/status`));
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended, which is what was wanted.
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
