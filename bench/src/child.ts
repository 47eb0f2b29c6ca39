import { closeSync, existsSync, openSync } from "node:fs";
import { within } from "./deadline.ts";
import { processTree } from "./process-tree.ts";

/**
 * Starts the processes of a bench run, pinned to their cores and with a high limit of open files. They are stopped when the run ends,
 * also by a failure or Ctrl-C.
 */
export interface ChildOptions {
  readonly command: readonly string[];
  readonly cores: readonly number[];
  readonly env?: Readonly<Record<string, string>>;
  /** File for its output. Left out: standard output is read by lines, and standard error goes to our terminal. */
  readonly log?: string;
}

export interface Child {
  readonly pid: number;
  readonly exited: Promise<number>;
  /** The next line of standard output. null at the end. */
  line(): Promise<string | null>;
  /** Sends SIGTERM, then SIGKILL. Resolves when the process and its descendants have ended. */
  stop(graceMs?: number): Promise<void>;
}

const filesMax = 65_536;
const running = new Set<number>();

export function startChild(options: ChildOptions): Child {
  const log = options.log === undefined ? null : openSync(options.log, "a");
  const child = Bun.spawn(["/bin/sh", "-c", raiseFiles, "sh", ...pinned(options)], {
    stdin: "pipe",
    stdout: log ?? "pipe",
    stderr: log ?? "inherit",
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/", ...options.env },
  });
  if (log !== null) closeSync(log);
  running.add(child.pid);
  const lines = readLines(child.stdout instanceof ReadableStream ? child.stdout : null);
  return {
    pid: child.pid,
    exited: child.exited,
    line: async () => (await lines.next()).value ?? null,
    stop: async (graceMs = 5_000) => {
      const family = processTree(child.pid);
      signal([child.pid], "SIGTERM");
      await within(child.exited, graceMs, "a child's end").catch(() => null);
      signal(family, "SIGKILL");
      await child.exited;
      running.delete(child.pid);
    },
  };
}

/** Runs a program that prints one JSON line. Throws if it prints none within `timeoutMs`. */
export async function runChild<Answer>(options: ChildOptions, timeoutMs: number): Promise<Answer> {
  const child = startChild(options);
  try {
    const line = await within(child.line(), timeoutMs, options.command.join(" ").slice(0, 200));
    if (line === null) throw new Error(`${options.command.join(" ").slice(0, 200)} exited without a result`);
    const answer: Answer = JSON.parse(line);
    return answer;
  } finally {
    await child.stop(500);
  }
}

/** From now on, children are stopped when this process ends. */
export function endChildrenWithUs(): void {
  process.on("exit", () => {
    for (const pid of running) signal(processTree(pid), "SIGKILL");
  });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      process.stderr.write(`\nended by ${name}\n`);
      process.exit(130);
    });
  }
}

// The soft limit of open files is often 1024. This raises it as far as the hard limit allows.
const raiseFiles = `ulimit -n ${filesMax} 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@"`;

function pinned({ command, cores }: ChildOptions): string[] {
  return cores.length === 0 || !canPin ? [...command] : ["taskset", "-c", cores.join(","), ...command];
}

const canPin = existsSync("/usr/bin/taskset") || existsSync("/bin/taskset");

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has already ended.
    }
  }
}

async function* readLines(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<string, null> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const piece of stream ?? []) {
    held += decoder.decode(piece, { stream: true });
    const lines = held.split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
  if (held !== "") yield held;
  return null;
}
