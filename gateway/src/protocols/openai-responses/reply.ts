import { bounds } from "#core/index.ts";
import type { ReplyFacts } from "../dialect.ts";
import { errorText, upstreamFault } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { valueAt } from "../json/scan.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { textOf } from "../json/value.ts";
import { readServed } from "../usage/read-served.ts";
import { OutputTools } from "../usage/reading.ts";
import { readResponsesUsage } from "./usage.ts";

const replyMembers: ReadonlySet<string> = new Set([
  ...["object", "id", "status", "model", "usage", "service_tier", "tool_usage", "error", "output", "tools"],
]);

/** Reads a response or response.compaction. A failed response is an answer, too; a running one has used nothing yet. */
export function readResponsesReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, replyMembers);
  if (members === null) throw upstreamFault("The upstream's answer is not a JSON object.");
  const member = (name: string): unknown => {
    try {
      return valueAt(body, members.get(name));
    } catch {
      throw upstreamFault("The upstream's answer is not valid JSON.");
    }
  };
  const error = member("error");
  const output = members.get("output");
  if (output === undefined && textOf(member("object")) === null) {
    if (error === null) throw upstreamFault("The upstream's answer is not a response.");
    return { usage: null, errorMessage: errorText(error), outputEstimate: 0, id: null };
  }
  const tools = new OutputTools();
  if (output !== undefined) tools.countAll(body, output);
  const reported = member("usage");
  const reading = readResponsesUsage(reported, {
    toolUsage: member("tool_usage"),
    counted: tools.use,
    images: { pictures: tools.pictures, model: tools.pictures === 0 ? "" : imageToolModel(body, members.get("tools")) },
  });
  const status = textOf(member("status"));
  const running = status === "queued" || status === "in_progress";
  // Reported again when it completes.
  const usage = running && reading?.missingSide === "both" ? null : reading;
  const isReported = usage !== null && usage.missingSide === undefined;
  return {
    usage,
    // Until then it has the requested values.
    served: running
      ? undefined
      : readServed({ model: member("model"), service_tier: member("service_tier") }, reported),
    errorMessage: null,
    outputEstimate: isReported || running || output === undefined ? 0 : estimate(output),
    id: textOf(member("id")),
    status,
    createdIds: tools.containerIds,
    items: output === undefined ? [] : itemIds(body, output),
  };
}

function estimate(output: Span): number {
  const size = output.end - output.start;
  return size <= "[]".length ? 0 : Math.ceil(size / 4);
}

/** The model of the image generation tool. */
export function imageToolModel(bytes: Uint8Array, tools: Span | undefined): string {
  if (tools === undefined) return "";
  for (const { start, end } of skimArray(bytes, tools, bounds.jsonValuesMax) ?? []) {
    const members = skimObject(bytes, start, end, toolMembers);
    if (textOf(skimValue(bytes, members?.get("type"))) !== "image_generation") continue;
    return textOf(skimValue(bytes, members?.get("model"))) ?? "";
  }
  return "";
}

const toolMembers: ReadonlySet<string> = new Set(["type", "model"]);

/** Items of a stored answer that later calls may name. */
export const storedItemIdsMax = 256;

export function itemIds(bytes: Uint8Array, output: Span): string[] {
  return (skimArray(bytes, output, storedItemIdsMax) ?? []).flatMap((item) => itemId(bytes, item) ?? []);
}

export function itemId(bytes: Uint8Array, { start, end }: Span): string | null {
  return textOf(skimValue(bytes, skimObject(bytes, start, end, idOnly)?.get("id")));
}

const idOnly: ReadonlySet<string> = new Set(["id"]);
