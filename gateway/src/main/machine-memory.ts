import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "#config/index.ts";
import { bounds, CallerMemory, memoryBytesDefault, memoryBytesMin, memoryLimits } from "#core/index.ts";
import { CallerConnections } from "#http-server/index.ts";
import { addressAllowed } from "#identity/index.ts";
import type { Clock } from "#ports/index.ts";

const cgroups = "/sys/fs/cgroup";

type CallersPart = Pick<
  Environment,
  "memoryBytes" | "workers" | "connectionsMax" | "connectionsPerAddressMax" | "trustedProxies"
>;

/** What is held for callers by one of the workers, its room for their connections, and the memory of its spool. */
export function openCallerMemory(
  environment: CallersPart,
  clock: Clock,
): { readonly memory: CallerMemory; readonly spoolBytes: number; readonly connections: CallerConnections } {
  const { memoryBytes, workers, connectionsMax, connectionsPerAddressMax, trustedProxies } = environment;
  const limits = memoryLimits((memoryBytes ?? machineMemory()) / workers);
  const asked = connectionsMax === null ? Number.POSITIVE_INFINITY : Math.ceil(connectionsMax / workers);
  const shared = [...loopback, ...trustedProxies];
  const connections = new CallerConnections(
    {
      max: Math.min(asked, limits.connectionsMax, connectionsWith(descriptorsMax())),
      perAddressMax: connectionsPerAddressMax,
      isShared: (address) => addressAllowed(shared, address),
    },
    clock,
  );
  return { memory: new CallerMemory(limits), spoolBytes: limits.spoolBytes, connections };
}

const loopback = ["127.0.0.0/8", "::1/128"];

/** How many connections a process may take that may open so many files. */
export function connectionsWith(descriptors: number): number {
  const reserved = Math.min(bounds.descriptorsReserved, descriptors / 4);
  return Math.max(bounds.connectionsMin, Math.floor((descriptors - reserved) / bounds.descriptorsOfConnection));
}

function descriptorsMax(): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(textOf("/proc/self/limits"))?.[1];
  if (soft === undefined) return bounds.descriptorsAssumed;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
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
