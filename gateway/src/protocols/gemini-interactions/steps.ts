import { bounds } from "#core/index.ts";
import { asBuffer } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { textOf } from "../json/value.ts";
import { noServerTools, type ServerToolUse } from "../usage/reading.ts";

/** Counts the calls of Google's own tools among steps, for answers without such counts in their usage. */
export function toolUseInSteps(bytes: Uint8Array, steps: Span): ServerToolUse {
  const part = asBuffer(bytes).subarray(steps.start, steps.end);
  if (!callMarks.some((mark) => part.includes(mark))) return noServerTools;
  const use = { ...noServerTools };
  for (const step of skimArray(bytes, steps, bounds.jsonValuesMax) ?? []) {
    countTool(use, textOf(skimValue(bytes, skimObject(bytes, step.start, step.end, typeOnly)?.get("type"))));
  }
  return use;
}

/** Adds calls of a tool; `type` is the type of their steps. */
export function countTool(
  use: { -readonly [Name in keyof ServerToolUse]: number },
  type: string | null,
  calls = 1,
): void {
  if (type === "google_search_call") use.webSearches += calls;
  else if (type === "google_maps_call") use.mapSearches += calls;
  else if (type === "file_search_call" || type === "retrieval_call") use.fileSearches += calls;
}

const callMarks = ["google_search_call", "google_maps_call", "file_search_call", "retrieval_call"].map((mark) =>
  Buffer.from(mark),
);
const typeOnly: ReadonlySet<string> = new Set(["type"]);
