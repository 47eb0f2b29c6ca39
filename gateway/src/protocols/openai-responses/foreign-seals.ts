import type { Edit } from "../json/bytes.ts";
import { cutNodes, type JsonNode } from "../json/node.ts";
import { sealMark } from "../turn/seal-text.ts";
import { readSummary } from "./compaction.ts";

/**
 * What gives way in a Responses request, so that OpenAI is shown no seal of another vendor: the reasoning items that
 * carry one go, and a compaction of ours says its summary in words.
 */
export function sealCutsInInput(body: JsonNode): readonly Edit[] {
  return body.membersNamed("input").flatMap(({ items }) => {
    const sealed = new Map(items.flatMap(sealedItem));
    const said = [...sealed].flatMap(([{ start, end }, text]) => (text === null ? [] : [{ start, end, text }]));
    return [...cutNodes(items, (item) => sealed.get(item) === null), ...said];
  });
}

/** An item that holds a seal, and what comes in its place; null: nothing. */
function sealedItem(item: JsonNode): (readonly [item: JsonNode, text: string | null])[] {
  const seal = item.textsNamed("encrypted_content").find((text) => text.startsWith(sealMark));
  if (seal === undefined) return [];
  const types = item.textsNamed("type");
  if (types.includes("reasoning")) return [[item, null]];
  if (!types.some((type) => compactions.has(type))) return [];
  const summary = readSummary(seal);
  return [[item, summary === null ? null : userMessage(summary)]];
}

const compactions: ReadonlySet<string> = new Set(["compaction", "compaction_summary"]);

function userMessage(text: string): string {
  return JSON.stringify({ type: "message", role: "user", content: [{ type: "input_text", text }] });
}
