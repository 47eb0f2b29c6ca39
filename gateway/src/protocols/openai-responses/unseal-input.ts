import type { Edit } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import { cutsFrom, itemsAt, membersAt, stringAt } from "../json/places.ts";
import { sealMark } from "../turn/seal-text.ts";
import { readSummary } from "./compaction.ts";

/**
 * What gives way in a Responses request, so that OpenAI is shown no seal of another vendor: the reasoning items that
 * carry one go, and a compaction of ours says its summary in words. `start`: where the body's object begins.
 */
export function unsealInput(bytes: Buffer, start: number): readonly Edit[] {
  return membersAt(bytes, start)
    .filter(({ name }) => name === "input")
    .flatMap((input) => {
      const items = itemsAt(bytes, input.start);
      const sealed = items.flatMap((item) => {
        const one = sealedItem(bytes, item);
        return one === null ? [] : [one];
      });
      const gone = new Set(sealed.filter(({ text }) => text === null).map(({ item }) => item));
      const said = sealed.flatMap(({ item, text }) => (text === null ? [] : [{ ...item, text }]));
      return [...cutsFrom(items, gone), ...said];
    });
}

interface SealedItem {
  readonly item: Span;
  /** What comes in its place; null: nothing. */
  readonly text: string | null;
}

/** A member that stands twice counts both times: readers differ in which one they take. null: it holds no seal. */
function sealedItem(bytes: Buffer, item: Span): SealedItem | null {
  const members = membersAt(bytes, item.start);
  const said = (wanted: string): readonly string[] =>
    members.flatMap((member) => (member.name === wanted ? (stringAt(bytes, member) ?? []) : []));
  const seal = said("encrypted_content").find((text) => text.startsWith(sealMark));
  if (seal === undefined) return null;
  const types = said("type");
  if (types.includes("reasoning")) return { item, text: null };
  if (!types.some((type) => compactions.has(type))) return null;
  const summary = readSummary(seal);
  return { item, text: summary === null ? null : userMessage(summary) };
}

const compactions: ReadonlySet<string> = new Set(["compaction", "compaction_summary"]);

function userMessage(text: string): string {
  return JSON.stringify({ type: "message", role: "user", content: [{ type: "input_text", text }] });
}
