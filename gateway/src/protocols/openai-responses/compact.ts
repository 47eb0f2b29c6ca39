import { bodyNames, choosingIn } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import { nestedObjects } from "../named-objects.ts";
import { readLabel, readModel, scanRequest } from "../request-members.ts";
import { toolFacts } from "../tool-facts.ts";
import { estimateInput } from "./input-estimate.ts";
import { objectsOfOpenai, previousId, requireInput, said } from "./request.ts";

const wanted = bodyNames(["model", "input", "instructions", "tools", "previous_response_id", "prompt_cache_key"]);

/** Reads what governs a compaction. Source: OpenAI API reference, "Compact a response". */
export function readCompactRequest(body: Uint8Array): RequestFacts {
  const members = scanRequest(body, wanted);
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const previous = said(body, members.get("previous_response_id"));
  requireInput(body, members.get("input"), previous !== null);
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: false,
    wantsUsage: true,
    outputTokensMax: null,
    inputEstimate: estimateInput(body, [members.get("input"), members.get("instructions"), members.get("tools")]),
    streamOptionsSpan: null,
    affinity: readLabel(body, members.get("prompt_cache_key")),
    continues: previousId(body, previous),
    objects: nestedObjects(body, objectsOfOpenai),
    keeps: false,
    choosing: choosingIn(members),
    ...toolFacts(body, members.get("tools")),
    images: 0,
  };
}
