import { join, resolve } from "node:path";
import type { Subprocess } from "bun";
import { bareEnvironment } from "../bare-environment.ts";
import { commandOf, isCode } from "../programs.ts";

export const root = join(import.meta.dir, "..", "..");

/** A program that a test started. Its output is kept, up to a limit, for failure messages. */
export interface Child {
  readonly pid: number;
  /** Standard output and standard error, interleaved in order of arrival. */
  output(): string;
  /** Resolves to the exit status; after a signal, 128 plus its number. */
  readonly exited: Promise<number>;
  running(): boolean;
  signal(name: "SIGTERM" | "SIGKILL" | "SIGHUP" | "SIGINT"): void;
}

const outputMax = 1024 * 1024;

/** A source file of this repository runs with the repository as working directory; an executable runs in its HOME. */
function commandFor(file: string, env: Readonly<Record<string, string>>): { cmd: string[]; cwd: string } {
  return isCode(file)
    ? { cmd: [...commandOf(resolve(root, file))], cwd: root }
    : { cmd: [file], cwd: env["HOME"] ?? root };
}

export function startChild(file: string, args: readonly string[], env: Readonly<Record<string, string>>): Child {
  const { cmd, cwd } = commandFor(file, env);
  const child: Subprocess<"ignore", "pipe", "pipe"> = Bun.spawn([...cmd, ...args], {
    cwd,
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let printed = "";
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      printed = (printed + decoder.decode(bytes, { stream: true })).slice(-outputMax);
    }
  };
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
  return {
    pid: child.pid,
    output: () => printed,
    exited: child.exited.then(async (status) => {
      await collected;
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

/** Runs a program to its end and returns everything it printed. */
export async function runChild(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  const { cmd, cwd } = commandFor(file, env);
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
