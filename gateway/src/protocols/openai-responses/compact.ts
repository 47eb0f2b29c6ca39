import { bodyNames, choosingIn } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Span } from "../json-scan.ts";
import { nestedObjects, objectAt } from "../named-objects.ts";
import { readLabel, readModel, scanRequest } from "../request-members.ts";
import { toolFacts } from "../tool-facts.ts";
import { estimateInput } from "./input-estimate.ts";
import { idOf, objectsOfOpenai, previousId, requireInput, said } from "./request.ts";

const wanted = bodyNames([
  ...["model", "input", "instructions", "tools", "previous_response_id", "conversation", "prompt_cache_key"],
]);

/** Reads what governs a compaction. Source: OpenAI API reference, "Compact a response". */
export function readCompactRequest(body: Uint8Array): RequestFacts {
  return promptFacts(body, scanRequest(body, wanted));
}

/** The same of a count. Source: OpenAI API reference, "Get input token counts". */
export function readInputTokensRequest(body: Uint8Array): RequestFacts {
  return promptFacts(body, scanRequest(body, wanted));
}

/** Only the model is required: whether there is anything to work on is the upstream's to judge. */
function promptFacts(body: Uint8Array, members: ReadonlyMap<string, Span>): RequestFacts {
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const previous = said(body, members.get("previous_response_id"));
  const conversation = said(body, members.get("conversation"));
  requireInput(body, members.get("input"), true);
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: false,
    wantsUsage: true,
    outputTokensMax: null,
    inputEstimate: estimateInput(body, [members.get("input"), members.get("instructions"), members.get("tools")]),
    streamOptionsSpan: null,
    affinity: readLabel(body, members.get("prompt_cache_key")),
    continues: previousId(body, previous) ?? idOf(body, conversation),
    objects: [...objectAt(body, members.get("conversation"), "conversation"), ...nestedObjects(body, objectsOfOpenai)],
    keeps: false,
    choosing: choosingIn(members),
    ...toolFacts(body, members.get("tools")),
    images: 0,
  };
}
