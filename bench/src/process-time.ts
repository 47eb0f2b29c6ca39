import { readdirSync, readFileSync } from "node:fs";

/** Processor time so far, in microseconds. */
export interface Spent {
  /** Of the first thread, on which the event loop runs. */
  readonly loop: number;
  readonly whole: number;
}

/**
 * Processor time of one process to the nanosecond, thread by thread: /proc/<pid>/task/<thread>/schedstat, of the kernel's
 * sched-stats.rst. What a thread that has ended took since it was last seen is not in it.
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

/** null: the thread has ended meanwhile. */
function ranOf(path: string): number | null {
  try {
    return Number(readFileSync(path, "latin1").split(" ")[0]) / 1e3;
  } catch {
    return null;
  }
}
