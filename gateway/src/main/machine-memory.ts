import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "#config/index.ts";
import { CallerMemory, memoryBytesDefault, memoryBytesMin, memoryLimits } from "#core/index.ts";

const cgroups = "/sys/fs/cgroup";

/** What is held for callers by one of the workers, and the memory of its spool. */
export function openCallerMemory({ memoryBytes, workers }: Pick<Environment, "memoryBytes" | "workers">): {
  readonly memory: CallerMemory;
  readonly spoolBytes: number;
} {
  const limits = memoryLimits((memoryBytes ?? machineMemory()) / workers);
  return { memory: new CallerMemory(limits), spoolBytes: limits.spoolBytes };
}

/** What this process may use where the operator does not say: the smallest limit of its cgroups, else the default. */
function machineMemory(): number {
  const path = /^0::(\/.*)$/m.exec(textOf("/proc/self/cgroup"))?.[1] ?? "/";
  let least = Number.POSITIVE_INFINITY;
  for (let at = path; ; at = dirname(at)) {
    const limit = /^\d+$/.exec(textOf(join(cgroups, at, "memory.max")).trim())?.[0];
    if (limit !== undefined) least = Math.min(least, Number(limit));
    if (at === "/" || at === ".") break;
  }
  return least === Number.POSITIVE_INFINITY ? memoryBytesDefault : Math.max(memoryBytesMin, least);
}

/** Empty where there is none: on other systems, and with the first version of cgroups. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
