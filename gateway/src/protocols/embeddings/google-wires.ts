import { requestFields } from "@sluice/contract/words";
import { bounds } from "#core/index.ts";
import type { PathFacts, Wire } from "../dialect.ts";
import { estimateTokens, geminiObjects, objectsOfGemini } from "../gemini/request.ts";
import type { Edit } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span } from "../json/cursor.ts";
import { skimArray } from "../json/skim.ts";
import { invalid, missingParam } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { checkedModelName, scanRequest } from "../request/members.ts";
import { BodyReader, type OpenFacts, type RequestBody } from "../request/request-body.ts";
import { batchEmbedUpstream, embedContentUpstream } from "./google.ts";

const bodies = new BodyReader(requestFields["embed-content"], ["model"], objectsOfGemini);
const batchBodies = new BodyReader(requestFields["batch-embed-contents"], ["model"], objectsOfGemini);
const batchRequests = new GovernedNames(["requests"]);
const innerMembers = new GovernedNames(["model"]);

/** The body may name the model again. */
export const embedContentWire: Wire = {
  ...embedContentUpstream,
  readRequest(bytes, path) {
    const body = bodies.read(bytes);
    return factsOf(body, path, body.get("content"));
  },
  requestEdits(_body, { modelSpan }, upstreamModel) {
    return modelSpan === null ? [] : [replaceModel(modelSpan, upstreamModel)];
  },
};

/** Each request of the batch names the model of the path. */
export const batchEmbedWire: Wire = {
  ...batchEmbedUpstream,
  readRequest(bytes, path) {
    const body = batchBodies.read(bytes);
    const requests = body.get("requests");
    if (requests === undefined) throw missingParam("requests");
    modelsIn(bytes, requests);
    const facts = factsOf(body, path, requests);
    if (facts.modelSpan !== null) facts.governed = ["model", ...(facts.governed ?? [])];
    return { ...facts, modelSpan: null };
  },
  scansForEdits: true,
  requestEdits(bytes, _facts, upstreamModel) {
    const requests = scanRequest(bytes, batchRequests).get("requests");
    return requests === undefined ? [] : modelsIn(bytes, requests).map((span) => replaceModel(span, upstreamModel));
  },
};

function factsOf(body: RequestBody, path: PathFacts | null, read: Span | undefined): OpenFacts {
  if (path === null) throw missingParam("model");
  const facts = body.facts(estimateTokens(body.bytes, read), checkedModelName(path.model));
  facts.outputTokensMax = 0;
  facts.affinity = null;
  facts.objects = geminiObjects(body.bytes, body);
  return facts;
}

/** Spans of the model in each request. */
function modelsIn(body: Uint8Array, requests: Span): readonly Span[] {
  const items = skimArray(body, requests, bounds.embeddingInputsMax + 1);
  if (items === null || items.length > bounds.embeddingInputsMax) {
    throw invalid("requests", `must be a list of at most ${bounds.embeddingInputsMax} requests`);
  }
  return items.flatMap(({ start, end }) => {
    if (body[start] !== OPEN_OBJECT) throw invalid("requests", "must be a list of objects");
    const model = scanRequest(body.subarray(start, end), innerMembers).get("model");
    return model === undefined ? [] : [{ start: start + model.start, end: start + model.end }];
  });
}

function replaceModel(span: Span, upstreamModel: string): Edit {
  return { ...span, text: JSON.stringify(`models/${upstreamModel}`) };
}
