import { readdirSync, readFileSync } from "node:fs";
import { processTree } from "./process-tree.ts";

const microsPerTick = 10_000;
const namedMax = 4;

/** CPU time by thread name since construction, from proc(5). Ended threads are missing. */
export class ThreadTimes {
  readonly #root: number;
  readonly #begin: ReadonlyMap<string, number>;

  constructor(root: number) {
    this.#root = root;
    this.#begin = timesOf(root);
  }

  /** Microseconds per call, largest first. */
  perCall(calls: number): string {
    const spent = [...timesOf(this.#root)].map(
      ([name, micros]) => [name, micros - (this.#begin.get(name) ?? 0)] as const,
    );
    return spent
      .sort(([, one], [, other]) => other - one)
      .slice(0, namedMax)
      .map(([name, micros]) => `${name} ${(micros / calls).toFixed(1)}`)
      .join(", ");
  }
}

function timesOf(root: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const pid of processTree(root)) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const [, name = "", fields = ""] = /\((.*)\) (.*)/s.exec(statOf(pid, thread)) ?? [];
      const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
      times.set(name, (times.get(name) ?? 0) + (user + system) * microsPerTick);
    }
  }
  return times;
}

/** Empty if the thread has ended. */
function statOf(pid: number, thread: string): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
  } catch {
    return "";
  }
}
