import type { Edit } from "../json/bytes.ts";
import { cutNodes, type JsonNode } from "../json/node.ts";
import { sealMark } from "../turn/seal-text.ts";
import { readSummary } from "./compaction.ts";

/** Edits that remove reasoning items with another vendor's seal, and turn our own compactions into text. */
export function sealCutsInInput(body: JsonNode): readonly Edit[] {
  return body.membersNamed("input").flatMap(({ items }) => {
    const sealed = new Map(items.flatMap(sealedItem));
    const summaries = [...sealed].flatMap(([{ start, end }, text]) => (text === null ? [] : [{ start, end, text }]));
    return [...cutNodes(items, (item) => sealed.get(item) === null), ...summaries];
  });
}

/** Null: the item is removed. */
function sealedItem(item: JsonNode): (readonly [item: JsonNode, text: string | null])[] {
  const seal = item.textsNamed("encrypted_content").find((text) => text.startsWith(sealMark));
  if (seal === undefined) return [];
  const types = item.textsNamed("type");
  if (types.includes("reasoning")) return [[item, null]];
  if (!types.some((type) => compactions.has(type))) return [];
  const summary = readSummary(seal);
  if (summary === null) return [[item, null]];
  const content = [{ type: "input_text", text: summary }];
  return [[item, JSON.stringify({ type: "message", role: "user", content })]];
}

const compactions: ReadonlySet<string> = new Set(["compaction", "compaction_summary"]);
