import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../../../test/bare-environment.ts";
import { until } from "../../../test/until.ts";

/** A supervisor and its small workers, in a separate process group. */
export interface Supervised {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  /** Everything printed to stdout and stderr. */
  output(): string;
  readonly exited: Promise<number>;
  signal(name: NodeJS.Signals, receiver?: "supervisor" | "group"): void;
  /** The process that answers a new connection. */
  answering(): Promise<number>;
  /** Process ids of the running workers, from /proc. */
  workers(): number[];
  /** Prevents workers from starting, until called with false. */
  failing(fails: boolean): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Supervisors that a test did not end, for example on a timeout. They would leave processes and a folder. */
const open = new Set<() => Promise<void>>();

export async function endSupervised(): Promise<void> {
  for (const end of open) await end();
}

export async function supervise(count: number, env: Record<string, string> = {}): Promise<Supervised> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-workers-"));
  const fails = join(folder, "fails");
  const child = Bun.spawn(
    ["setsid", process.execPath, "--no-env-file", join(import.meta.dir, "supervising.ts"), String(count)],
    {
      env: { ...bareEnvironment(), PORT: "0", FAILS: fails, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  let printed = "";
  const keep = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
      printed += text;
    }
  };
  const read = Promise.all([keep(child.stdout), keep(child.stderr)]);
  const endAll = async (): Promise<void> => {
    open.delete(endAll);
    for (const pid of [
      ...(child.exitCode !== null || child.signalCode !== null ? [] : [child.pid]),
      ...workersOf(printed),
    ])
      end(pid);
    rmSync(folder, { recursive: true, force: true });
    await child.exited;
  };
  open.add(endAll);
  const port = Number(
    await until(() => {
      if (child.exitCode !== null) throw new Error(printed);
      return (printed.match(/is ready$/gm)?.length ?? 0) >= count ? /listening on (\d+)/.exec(printed)?.[1] : null;
    }).catch(async (thrown: unknown) => {
      await endAll();
      throw thrown;
    }),
  );
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    folder,
    pid: child.pid,
    output: () => printed,
    exited: child.exited.then(async (status) => {
      await read;
      return status;
    }),
    signal(name, receiver = "supervisor") {
      process.kill(receiver === "group" ? -child.pid : child.pid, name);
    },
    answering: async () => Number(await (await fetch(url, { headers: { connection: "close" } })).text()),
    workers: () => workersOf(printed),
    failing(now) {
      if (now) writeFileSync(fails, "");
      else rmSync(fails, { force: true });
    },
    [Symbol.asyncDispose]: endAll,
  };
}

/** Workers that reported ready and are alive. A dead one without a report of its end counts as gone. */
function workersOf(printed: string): number[] {
  const pids = [...printed.matchAll(/^worker (\d+) is ready$/gm)].map(([, pid]) => Number(pid));
  return pids.filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/stat`, "utf8");
      const state = line.slice(line.lastIndexOf(")") + 2)[0];
      return state !== "Z" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("small-worker");
    } catch {
      return false;
    }
  });
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
