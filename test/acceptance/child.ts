import { join, resolve } from "node:path";
import type { Subprocess } from "bun";
import { bareEnvironment } from "../bare-environment.ts";
import { commandOf, isCode } from "../programs.ts";

export const root = join(import.meta.dir, "..", "..");

/** A program started by a test, with everything it prints kept (bounded) for the moment it fails. */
export interface Child {
  readonly pid: number;
  /** Standard output and standard error, interleaved as they came. */
  output(): string;
  /** Resolves with the exit status; a signal gives 128 and its number. */
  readonly exited: Promise<number>;
  running(): boolean;
  signal(name: "SIGTERM" | "SIGKILL" | "SIGHUP" | "SIGINT"): void;
}

const outputMax = 1024 * 1024;

/** A file of this repository is run from its root; anything else is a program itself, and runs in its HOME. */
function startOf(file: string, env: Readonly<Record<string, string>>): { cmd: string[]; cwd: string } {
  return isCode(file)
    ? { cmd: [...commandOf(resolve(root, file))], cwd: root }
    : { cmd: [file], cwd: env["HOME"] ?? root };
}

export function startChild(file: string, args: readonly string[], env: Readonly<Record<string, string>>): Child {
  const { cmd, cwd } = startOf(file, env);
  const child: Subprocess<"ignore", "pipe", "pipe"> = Bun.spawn([...cmd, ...args], {
    cwd,
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let printed = "";
  const keep = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      printed = (printed + decoder.decode(bytes, { stream: true })).slice(-outputMax);
    }
  };
  const read = Promise.all([keep(child.stdout), keep(child.stderr)]);
  return {
    pid: child.pid,
    output: () => printed,
    exited: child.exited.then(async (status) => {
      await read;
      return status;
    }),
    running: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => child.kill(name),
  };
}

export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end, keeping all it prints. */
export async function runChild(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  const { cmd, cwd } = startOf(file, env);
  const child = Bun.spawn([...cmd, ...args], {
    cwd,
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}
