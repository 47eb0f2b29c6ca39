import { CallerMemory, memoryBytesDefault, memoryLimits } from "#core/index.ts";
import { CallerConnections, type ConnectionLimits } from "#http-server/index.ts";
import { systemClock } from "#system/index.ts";

/** What is held for callers, of a process that may use so much. */
export function callerMemory(bytes: number = memoryBytesDefault): CallerMemory {
  return new CallerMemory(memoryLimits(bytes));
}

/** For many connections, wherever they come from. */
export function callerConnections(limits: Partial<ConnectionLimits> = {}, clock = systemClock): CallerConnections {
  return new CallerConnections({ max: 10_000, perAddressMax: null, isShared: () => true, ...limits }, clock);
}
