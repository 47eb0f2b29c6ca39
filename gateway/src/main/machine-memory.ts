import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "#config/index.ts";
import { bounds, CallerMemory, memoryBytesDefault, memoryBytesMin, memoryLimits } from "#core/index.ts";
import { CallerConnections } from "#http-server/index.ts";
import { addressAllowed } from "#identity/index.ts";
import type { Clock } from "#ports/index.ts";

/** File descriptors of a call (one of its caller and up to two others), and those reserved for everything else. */
const descriptorsOfConnection = 3;
const descriptorsReserved = 2_304;

/** If the system does not report the limit. */
const descriptorsAssumed = 10_240;

const cgroups = "/sys/fs/cgroup";

type MemorySettings = Pick<
  Environment,
  "memoryBytes" | "workers" | "connectionsMax" | "connectionsPerAddressMax" | "trustedProxies"
>;

/** The memory for callers, the connection limits and the spool memory of one worker. */
export function openCallerMemory(environment: MemorySettings, clock: Clock) {
  const { memoryBytes, workers, connectionsMax, connectionsPerAddressMax, trustedProxies } = environment;
  const limits = memoryLimits((memoryBytes ?? machineMemory()) / workers);
  const configured = connectionsMax === null ? Number.POSITIVE_INFINITY : Math.ceil(connectionsMax / workers);
  const shared = [...loopback, ...trustedProxies];
  const connections = new CallerConnections(
    {
      max: Math.min(configured, limits.connectionsMax, connectionsWith(descriptorsMax())),
      perAddressMax: connectionsPerAddressMax,
      isShared: (address) => addressAllowed(shared, address),
    },
    clock,
  );
  return { memory: new CallerMemory(limits), spoolBytes: limits.spoolBytes, connections };
}

const loopback = ["127.0.0.0/8", "::1/128"];

/** How many connections a process can accept with that many file descriptors. */
export function connectionsWith(descriptors: number): number {
  const reserved = Math.min(descriptorsReserved, descriptors / 4);
  return Math.max(bounds.connectionsMin, Math.floor((descriptors - reserved) / descriptorsOfConnection));
}

function descriptorsMax(): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(textOf("/proc/self/limits"))?.[1];
  if (soft === undefined) return descriptorsAssumed;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Default memory of this process: the smallest limit of its cgroups (v1 or v2), or a constant; at most the memory of the machine. */
export function machineMemory(read: (file: string) => string = textOf, machineBytes: number = totalmem()): number {
  const groups = read("/proc/self/cgroup");
  const limits = [
    ...limitsOf(/^0::(\/.*)$/m.exec(groups)?.[1], cgroups, "memory.max", read),
    ...limitsOf(
      /^\d+:[^:]*\bmemory\b[^:]*:(\/.*)$/m.exec(groups)?.[1],
      join(cgroups, "memory"),
      "memory.limit_in_bytes",
      read,
    ),
    // cgroups v1 report about 2^63 if there is no limit.
  ].filter((bytes) => bytes < 2 ** 60);
  const limit = limits.length === 0 ? memoryBytesDefault : Math.min(...limits);
  return Math.max(memoryBytesMin, Math.min(limit, machineBytes));
}

/** Limits of a cgroup and its parents. A container may not see the parents. */
function limitsOf(path = "/", tree: string, file: string, read: (file: string) => string): readonly number[] {
  const limits: number[] = [];
  for (let at = path; ; at = dirname(at)) {
    const limit = /^\d+$/.exec(read(join(tree, at, file)).trim())?.[0];
    if (limit !== undefined) limits.push(Number(limit));
    if (at === "/" || at === ".") return limits;
  }
}

/** "" if there is no such file, as on other systems. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
