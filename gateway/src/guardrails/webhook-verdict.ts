import type { Finding } from "#core/index.ts";
import type { JudgedText } from "./judged-texts.ts";

/** The judgment of a model or a service. */
export interface RemoteVerdict {
  /** Empty: nothing was found. */
  readonly types: readonly string[];
  /** Places to mask, by the index of their text. */
  readonly masks?: ReadonlyMap<number, readonly Finding[]>;
}

const masksMax = 10_000;
const typePattern = /^[\w.:/ -]{1,64}$/;

/**
 * Reads `{"flagged": boolean, "types"?: [names], "masks"?: [{text, start, end, type?}], "offsets"?: "utf-16" | "code-points"}`. Throws for
 * anything else, and for a mask outside the texts.
 */
export function readWebhookVerdict(reply: Uint8Array, texts: readonly Pick<JudgedText, "text">[]): RemoteVerdict {
  const answer: unknown = JSON.parse(Buffer.from(reply).toString());
  const { flagged, types, masks, offsets = "utf-16" } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof flagged !== "boolean") throw new Error('the webhook answered without "flagged"');
  if (offsets !== "utf-16" && offsets !== "code-points") throw new Error('the webhook\'s "offsets" is unknown');
  if (masks !== undefined && !Array.isArray(masks)) throw new Error('the webhook\'s "masks" is not a list');
  if (masks !== undefined && masks.length > masksMax) throw new Error("the webhook sent too many masks");
  if (!flagged && masks !== undefined && masks.length > 0) throw new Error("the webhook masks what it did not flag");
  if (!flagged) return { types: [] };
  const byText = new Map<number, Finding[]>();
  for (const mask of masks ?? []) {
    const { index, finding } = readMask(mask, texts, offsets);
    byText.set(index, [...(byText.get(index) ?? []), finding]);
  }
  const named = Array.isArray(types) ? types.filter((type) => typeof type === "string" && typePattern.test(type)) : [];
  return { types: named.length === 0 ? ["flagged"] : named, masks: byText };
}

function readMask(
  mask: unknown,
  texts: readonly Pick<JudgedText, "text">[],
  offsets: "utf-16" | "code-points",
): { readonly index: number; readonly finding: Finding } {
  const { text: index, start, end, type } = (mask ?? {}) as Readonly<Record<string, unknown>>;
  const text = typeof index === "number" ? texts[index]?.text : undefined;
  if (text === undefined) throw new Error("the webhook sent a mask for an unknown text");
  const from = offsetIn(text, start, offsets);
  const to = offsetIn(text, end, offsets);
  if (from === null || to === null || from >= to) throw new Error("the webhook sent a mask outside its text");
  const named = typeof type === "string" && typePattern.test(type) ? type : "flagged";
  return { index: index as number, finding: { start: from, end: to, type: named } };
}

/** In UTF-16 units; null: outside the text, or within a character. */
function offsetIn(text: string, given: unknown, offsets: "utf-16" | "code-points"): number | null {
  if (typeof given !== "number" || !Number.isInteger(given) || given < 0) return null;
  let offset = given;
  if (offsets === "code-points") {
    offset = 0;
    for (let count = 0; count < given; count++) {
      if (offset >= text.length) return null;
      offset += (text.codePointAt(offset) as number) > 0xffff ? 2 : 1;
    }
  }
  if (offset > text.length) return null;
  const divides = offset > 0 && offset < text.length && (text.codePointAt(offset - 1) as number) > 0xffff;
  return divides ? null : offset;
}
