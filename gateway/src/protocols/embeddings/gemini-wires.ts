import { requestFields } from "@sluice/contract/words";
import { bounds } from "#core/index.ts";
import type { PathFacts, RequestFacts, Wire } from "../dialect.ts";
import { estimateTokens, geminiObjects, objectsOfGemini } from "../gemini/request.ts";
import type { Edit } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span } from "../json/cursor.ts";
import { skimArray } from "../json/skim.ts";
import { missing, wrong } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, checkedModelName, choosingIn, scanRequest } from "../request/members.ts";
import { listenFor } from "../request/named-objects.ts";
import { batchEmbedUpstream, embedContentUpstream } from "./gemini.ts";

const checks = new MemberChecks(requestFields["embed-content"]);
const batchChecks = new MemberChecks(requestFields["batch-embed-contents"]);

const wanted = bodyNames(["model", "content", "requests"]);
const inOne = new GovernedNames(["model"]);

/** `:embedContent`. A body that names its model once more names the upstream's. */
export const embedContentWire: Wire = {
  ...embedContentUpstream,
  readRequest(body, path) {
    const heard = listenFor(objectsOfGemini);
    const members = scanRequest(body, wanted, heard);
    checks.check(body, members);
    const content = members.get("content");
    const modelSpan = members.get("model") ?? null;
    const objects = geminiObjects(body, heard);
    return { ...factsOf(path, estimateTokens(body, content)), modelSpan, objects, choosing: choosingIn(body, members) };
  },
  requestEdits(_body, { modelSpan }, upstreamModel) {
    return modelSpan === null ? [] : [named(modelSpan, upstreamModel)];
  },
};

/** `:batchEmbedContents`: each request names its model, which has to be the path's. */
export const batchEmbedWire: Wire = {
  ...batchEmbedUpstream,
  readRequest(body, path) {
    const heard = listenFor(objectsOfGemini);
    const members = scanRequest(body, wanted, heard);
    batchChecks.check(body, members);
    const requests = members.get("requests");
    if (requests === undefined) throw missing("requests");
    modelsIn(body, requests);
    const choosing = members.has("model") ? ["model", ...(choosingIn(body, members) ?? [])] : choosingIn(body, members);
    return { ...factsOf(path, estimateTokens(body, requests)), objects: geminiObjects(body, heard), choosing };
  },
  scansForEdits: true,
  requestEdits(body, _facts, upstreamModel) {
    const requests = scanRequest(body, wanted).get("requests");
    if (requests === undefined) return [];
    return modelsIn(body, requests).map((span) => named(span, upstreamModel));
  },
};

function factsOf(path: PathFacts | null, inputEstimate: number): RequestFacts {
  if (path === null) throw missing("model");
  return {
    model: checkedModelName(path.model),
    modelSpan: null,
    stream: false,
    wantsUsage: true,
    // Nothing is generated: nothing is to be reserved for it.
    outputTokensMax: 0,
    inputEstimate,
    streamOptionsSpan: null,
    affinity: null,
    continues: null,
    keeps: null,
    images: 0,
  };
}

/** Where the requests of a batch name their models. */
function modelsIn(body: Uint8Array, requests: Span): readonly Span[] {
  const items = skimArray(body, requests, bounds.embeddingInputsMax + 1);
  if (items === null || items.length > bounds.embeddingInputsMax) {
    throw wrong("requests", `must be a list of at most ${bounds.embeddingInputsMax} requests`);
  }
  return items.flatMap(({ start, end }) => {
    if (body[start] !== OPEN_OBJECT) throw wrong("requests", "must be a list of objects");
    const model = scanRequest(body.subarray(start, end), inOne).get("model");
    return model === undefined ? [] : [{ start: start + model.start, end: start + model.end }];
  });
}

function named(span: Span, upstreamModel: string): Edit {
  return { ...span, text: JSON.stringify(`models/${upstreamModel}`) };
}
