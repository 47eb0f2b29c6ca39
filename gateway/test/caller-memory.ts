import { CallerMemory, memoryBytesDefault, memoryLimits } from "#core/index.ts";
import { CallerConnections, type ConnectionLimits } from "#http-server/index.ts";
import { systemClock } from "#system/index.ts";

/** The memory for callers of a process with this much in total. */
export function callerMemory(bytes: number = memoryBytesDefault): CallerMemory {
  return new CallerMemory(memoryLimits(bytes));
}

/** Allows many connections from any address. */
export function callerConnections(limits: Partial<ConnectionLimits> = {}, clock = systemClock): CallerConnections {
  return new CallerConnections({ max: 10_000, perAddressMax: null, isShared: () => true, ...limits }, clock);
}
