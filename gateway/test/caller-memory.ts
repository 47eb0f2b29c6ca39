import { CallerMemory, memoryBytesDefault, memoryLimits } from "#core/index.ts";

/** As a gateway has it that may use so much. */
export function callerMemory(bytes: number = memoryBytesDefault): CallerMemory {
  return new CallerMemory(memoryLimits(bytes));
}
