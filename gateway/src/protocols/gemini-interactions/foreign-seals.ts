import { isForeignSeal } from "../gemini/encodings.ts";
import type { Edit } from "../json/bytes.ts";
import { cutNodes, type JsonNode } from "../json/node.ts";

/** Edits that remove another vendor's seals: thoughts that carry one, and signatures of other steps. */
export function sealCutsInSteps(body: JsonNode): readonly Edit[] {
  return body.membersNamed("input").flatMap(({ items }) => {
    const isRemoved = (step: JsonNode): boolean => step.textsNamed("type").includes("thought") && isSealed(step);
    const others = items.filter((step) => !isRemoved(step) && isSealed(step));
    const signatures = others.flatMap(({ members }) =>
      cutNodes(members, ({ name, text }) => name === "signature" && isForeignSeal(text ?? "")),
    );
    return [...cutNodes(items, isRemoved), ...signatures];
  });
}

function isSealed(step: JsonNode): boolean {
  return step.textsNamed("signature").some(isForeignSeal);
}
