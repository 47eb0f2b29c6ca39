import { objectBounds } from "#protocols/index.ts";
import type { Call } from "../call.ts";

/** Input of a call that its body does not hold. */
export interface UnseenInput {
  /** Of objects that the vendor keeps, as their own records say. */
  readonly tokens: number;
  readonly pictures: number;
  /** There is more, and nothing is known of it but that the model has to read it. */
  readonly fillsWindow: boolean;
}

const none: UnseenInput = Object.freeze({ tokens: 0, pictures: 0, fillsWindow: false });

/** As the tables `objectBounds` and `addressBounds` bound it. */
export function unseenInput({ facts, kept }: Pick<Call, "facts" | "kept">): UnseenInput {
  const { continues, objects = [], addressed } = facts;
  if (continues === null && objects.length === 0 && addressed === undefined) return none;
  let { pictures, others } = addressed ?? noMedia;
  let tokens = 0;
  for (const { id, kind, isPicture } of continues === null ? objects : [continues, ...objects]) {
    if (objectBounds[kind] === "nothing") continue;
    const known = kept?.found.get(id)?.inputTokens ?? null;
    if (isPicture === true) pictures++;
    else if (known === null) others++;
    else tokens += known;
  }
  return { tokens, pictures, fillsWindow: others > 0 };
}

const noMedia = { pictures: 0, others: 0 };
