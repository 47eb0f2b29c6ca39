import type { UsageReading } from "./dialect.ts";

/** Which of the two counts a usage object leaves out; undefined when it has both. */
export function untoldOf(input: number | null, output: number | null): UsageReading["untold"] {
  if (input !== null) return output === null ? "output" : undefined;
  return output === null ? "both" : "input";
}
