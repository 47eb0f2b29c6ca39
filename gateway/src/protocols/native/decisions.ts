import { requestFields } from "@sluice/contract/words";
import type { Wire } from "../dialect.ts";
import { addMedia, estimateContent, objectsOfInteractions } from "../gemini-interactions/request.ts";
import { readInteractionUsage } from "../gemini-interactions/usage.ts";
import { estimateInput, objectsOfOpenai } from "../openai-responses/request.ts";
import { readResponsesUsage } from "../openai-responses/usage.ts";
import type { NamedObject } from "../request/named-objects.ts";
import { BodyReader, modelEdit } from "../request/request-body.ts";
import { nativeFacts, refuseStream, replyReader } from "./json-calls.ts";

// Decisions: probabilities of answers to questions about an input. Sources: DecisionCreateParams and Decision of the npm package
// `openai`, CreateDecisionRequest and CreateDecisionResponse of `@google/genai`.

const openaiBodies = new BodyReader(
  requestFields.decisions,
  ["prompt_cache_key", "safety_identifier"],
  objectsOfOpenai,
);

/** POST /decisions of OpenAI. */
export const decisionsWire: Wire = {
  readRequest(bytes) {
    const body = openaiBodies.read(bytes);
    const facts = nativeFacts(body, estimateInput(bytes, [body.get("input"), body.get("questions")]));
    facts.affinity = body.label("prompt_cache_key") ?? body.label("safety_identifier");
    facts.objects = body.objects();
    facts.mayHoldMedia = body.namesMedia;
    facts.mediaByUrl = body.mediaByUrl();
    return facts;
  },
  requestEdits: modelEdit,
  smallestRequest: (model) => ({
    model,
    input: "ok",
    questions: [{ type: "predicate", instructions: "The text is ok." }],
  }),
  readReply: replyReader(["answers"], ["usage"], (member) => readResponsesUsage(member("usage"))),
  tapStream: refuseStream("decisions"),
};

const googleBodies = new BodyReader(requestFields["gemini-decisions"], [], objectsOfInteractions);
const prefix = "models/";

/** POST /decisions of Google. Both its clients and its API write the model as `models/<name>`. */
export const geminiDecisionsWire: Wire = {
  readRequest(bytes) {
    const body = googleBodies.read(bytes);
    const tokens = estimateContent(bytes, body.get("input")) + estimateContent(bytes, body.get("questions"));
    const facts = nativeFacts(body, tokens);
    if (facts.model.startsWith(prefix)) facts.model = facts.model.slice(prefix.length);
    const objects: NamedObject[] = [];
    addMedia(body, facts, objects);
    facts.objects = objects;
    return facts;
  },
  requestEdits(_body, { modelSpan }, upstreamModel) {
    if (modelSpan === null) return [];
    const name = upstreamModel.startsWith(prefix) ? upstreamModel : prefix + upstreamModel;
    return [{ ...modelSpan, text: JSON.stringify(name) }];
  },
  readReply: replyReader(["answers", "prompt_feedback"], ["usage"], (member) => readInteractionUsage(member("usage"))),
  tapStream: refuseStream("decisions"),
};
