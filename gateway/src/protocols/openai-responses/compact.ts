import { requestFields } from "@sluice/contract/words";
import type { RequestFacts } from "../dialect.ts";
import { addressedMedia } from "../request/addressed-media.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, choosingIn, readLabel, readModel, scanRequest } from "../request/members.ts";
import { listenFor, mediaHeard, objectAt } from "../request/named-objects.ts";
import { estimateInput } from "./input-estimate.ts";
import { continuedResponse, modelsAndTools, namedWithin, objectsOfOpenai, said } from "./request.ts";

const compactChecks = new MemberChecks(requestFields["responses-compact"]);
const countChecks = new MemberChecks(requestFields["input-tokens"]);

const wanted = bodyNames([
  ...["model", "input", "instructions", "tools", "previous_response_id", "conversation", "prompt_cache_key"],
]);

/** Reads what governs a compaction. Source: OpenAI API reference, "Compact a response". */
export function readCompactRequest(body: Uint8Array): RequestFacts {
  return promptFacts(body, compactChecks);
}

/** The same of a count. Source: OpenAI API reference, "Get input token counts". */
export function readInputTokensRequest(body: Uint8Array): RequestFacts {
  return promptFacts(body, countChecks);
}

/** Only the model is required: whether there is anything to work on is the upstream's to judge. */
function promptFacts(body: Uint8Array, checks: MemberChecks): RequestFacts {
  const heard = listenFor(objectsOfOpenai);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const previous = said(body, members.get("previous_response_id"));
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: false,
    wantsUsage: true,
    outputTokensMax: null,
    inputEstimate: estimateInput(body, [members.get("input"), members.get("instructions"), members.get("tools")]),
    streamOptionsSpan: null,
    affinity: readLabel(body, members.get("prompt_cache_key")),
    continues: continuedResponse(body, previous),
    objects: [
      ...objectAt(body, members.get("conversation"), "conversation"),
      ...namedWithin(body, members.get("input"), heard),
    ],
    keeps: null,
    choosing: choosingIn(body, members),
    ...modelsAndTools(body, members),
    images: 0,
    namesMedia: mediaHeard(heard),
    addressed: addressedMedia(body, heard),
  };
}
