import type { UsageReading } from "./dialect.ts";

/** What a usage object whose sides were read as these counts does not say; empty for one that says both. */
export function untoldOf(input: number | null, output: number | null): Pick<UsageReading, "untold"> {
  if (input !== null && output !== null) return toldWhole;
  return { untold: input !== null ? "output" : output !== null ? "input" : "both" };
}

const toldWhole = Object.freeze({});
