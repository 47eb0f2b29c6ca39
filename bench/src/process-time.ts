import { readdirSync, readFileSync } from "node:fs";

/** CPU time so far, in microseconds. */
export interface Spent {
  /** CPU time of the first thread, which runs the event loop. */
  readonly loop: number;
  readonly whole: number;
}

/**
 * CPU time of one process, summed over its threads, from /proc/<pid>/task/<thread>/schedstat (nanoseconds; see the kernel's
 * sched-stats.rst). The time of a thread between the last read and its end is missing.
 */
export class ProcessTime {
  readonly #pid: number;
  readonly #ofThreads = new Map<string, number>();

  constructor(pid: number) {
    this.#pid = pid;
  }

  read(): Spent {
    for (const thread of readdirSync(`/proc/${this.#pid}/task`)) {
      const ran = ranOf(`/proc/${this.#pid}/task/${thread}/schedstat`);
      if (ran !== null) this.#ofThreads.set(thread, ran);
    }
    let whole = 0;
    for (const ran of this.#ofThreads.values()) whole += ran;
    return { loop: this.#ofThreads.get(String(this.#pid)) ?? 0, whole };
  }
}

/** CPU time of a thread in microseconds; null: the thread has ended. */
function ranOf(path: string): number | null {
  try {
    return Number(readFileSync(path, "latin1").split(" ")[0]) / 1e3;
  } catch {
    return null;
  }
}
