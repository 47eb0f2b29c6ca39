import { type Dialect, type HeaderFacts, Refusal } from "../dialect.ts";
import { objectOf, parseObject, stringOf } from "../json-body.ts";
import type { HeaderRow } from "../outlet.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { anthropicError } from "./anthropic-conventions.ts";
import { countExchange, messagesExchange } from "./anthropic-messages.ts";
import { readMessages } from "./anthropic-request.ts";
import { requireBearer } from "./google-conventions.ts";

/** Messages on Vertex: the path names the model and the method, and the body has `anthropic_version`. */
export const vertexAnthropic: Dialect = {
  id: "vertex-anthropic",
  matches: ({ method, path }) => method === "POST" && pathPattern.test(path),
  read(request) {
    requireBearer(request);
    const { model, stream } = partsOf(request);
    const version = versionOf(request);
    if (model === "count-tokens")
      return countExchange(readMessages(request, { model: null, version, stream: "count" }));
    return messagesExchange(readMessages(request, { model, version, stream }));
  },
  headers: vertexHeaders,
  error: anthropicError,
};

const pathPattern = /\/publishers\/anthropic\/models\/([^/]+):(rawPredict|streamRawPredict)$/;

function partsOf({ path }: SimulatorRequest): { readonly model: string; readonly stream: boolean } {
  const match = pathPattern.exec(path);
  return { model: pathPart(match?.[1]), stream: match?.[2] === "streamRawPredict" };
}

function versionOf(request: SimulatorRequest): string {
  const version = stringOf(objectOf(parseObject(request.body))["anthropic_version"]);
  if (version !== "vertex-2023-10-16") throw new Refusal(400, "anthropic_version: Field required");
  return version;
}

function vertexHeaders({ requestId }: HeaderFacts): HeaderRow[] {
  return [
    ["request-id", requestId],
    ["x-vertex-ai-llm-request-type", "shared"],
  ];
}
