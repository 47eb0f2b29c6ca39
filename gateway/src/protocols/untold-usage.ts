import type { UsageReading } from "./dialect.ts";

/** What a usage object whose sides were read as these counts does not say; undefined for one that says both. */
export function untoldOf(input: number | null, output: number | null): UsageReading["untold"] {
  if (input !== null) return output === null ? "output" : undefined;
  return output === null ? "both" : "input";
}
