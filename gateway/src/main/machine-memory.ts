import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "#config/index.ts";
import { bounds, CallerMemory, memoryBytesDefault, memoryBytesMin, memoryLimits } from "#core/index.ts";
import { CallerConnections } from "#http-server/index.ts";
import { addressAllowed } from "#identity/index.ts";
import type { Clock } from "#ports/index.ts";

/** Descriptors of a call at most (its caller and an upstream, or its caller and two inside the gateway), and those for all else. */
const descriptorsOfConnection = 3;
const descriptorsReserved = 2_304;

/** Where the system does not say how many a process may have. */
const descriptorsAssumed = 10_240;

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
  const reserved = Math.min(descriptorsReserved, descriptors / 4);
  return Math.max(bounds.connectionsMin, Math.floor((descriptors - reserved) / descriptorsOfConnection));
}

function descriptorsMax(): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(textOf("/proc/self/limits"))?.[1];
  if (soft === undefined) return descriptorsAssumed;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/**
 * What this process may use where the operator does not say: the smallest limit of its cgroups, of either version, or the default; and
 * never more than the machine has.
 */
export function machineMemory(read: (file: string) => string = textOf, machineBytes: number = totalmem()): number {
  const own = read("/proc/self/cgroup");
  const limits = [
    ...limitsOf(/^0::(\/.*)$/m.exec(own)?.[1], cgroups, "memory.max", read),
    ...limitsOf(
      /^\d+:[^:]*\bmemory\b[^:]*:(\/.*)$/m.exec(own)?.[1],
      join(cgroups, "memory"),
      "memory.limit_in_bytes",
      read,
    ),
    // The first version writes about 2^63 where there is no limit.
  ].filter((bytes) => bytes < 2 ** 60);
  const asked = limits.length === 0 ? memoryBytesDefault : Math.min(...limits);
  return Math.max(memoryBytesMin, Math.min(asked, machineBytes));
}

/** Of a cgroup and those above it. In a container the upper ones may not be there to see. */
function limitsOf(path = "/", tree: string, file: string, read: (file: string) => string): readonly number[] {
  const limits: number[] = [];
  for (let at = path; ; at = dirname(at)) {
    const limit = /^\d+$/.exec(read(join(tree, at, file)).trim())?.[0];
    if (limit !== undefined) limits.push(Number(limit));
    if (at === "/" || at === ".") return limits;
  }
}

/** Empty where there is none, as on other systems. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
