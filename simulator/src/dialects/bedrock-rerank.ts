import { silentAnswer } from "../answer.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, objectOf, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { admitBedrock, bedrockError, bedrockErrorEvent, bedrockHeaders, bedrockPath } from "./bedrock-conventions.ts";
import { ranked } from "./rerank.ts";

/** Bedrock's InvokeModel with rerank models of Cohere and Amazon, which report no usage. */
export function bedrockRerank(secret: string | undefined): Dialect {
  return {
    id: "bedrock-rerank",
    matches: ({ method, path }) => method === "POST" && ranker.test(bedrockPath(path)?.model ?? ""),
    read: (request) => read(request, secret),
    headers: bedrockHeaders,
    error: bedrockError,
  };
}

const ranker = /(?:amazon|cohere)\.rerank/;

function read(request: SimulatorRequest, secret: string | undefined): Exchange {
  const modelParts = splitModel(bedrockPath(request.path)?.model ?? "");
  const body = objectOf(parseObject(request.body));
  const cohere = modelParts.model.includes("cohere.");
  const allowed = ["query", "documents", "top_n", ...(cohere ? ["api_version", "max_tokens_per_doc"] : [])];
  for (const name of Object.keys(body)) if (!allowed.includes(name)) throw malformed(`extraneous key [${name}]`);
  if (cohere && body["api_version"] !== 2) throw malformed("api_version must be 2");
  const query = splitMarker(stringOf(body["query"]));
  const documents = Array.isArray(body["documents"]) ? body["documents"].map(stringOf) : [];
  if (query.text === "" || documents.length === 0) throw malformed("required keys [query, documents] not found");
  const queryWords = countWords(query.text);
  const tokens = documents.reduce((sum, text) => sum + countWords(text) + queryWords, 0);
  return {
    parsed: { ...bareRequest(modelParts.model, tokens), script: { ...modelParts.script, ...query.script } },
    ping: null,
    admit: (script, record) => admitBedrock(request, script.aws_secret ?? secret, record),
    compose: () => silentAnswer(tokens),
    whole() {
      const top = countOf(body["top_n"]) ?? documents.length;
      const results = ranked(query.text, documents)
        .slice(0, top)
        .map(({ index, score }) => ({ index, relevance_score: score }));
      return JSON.stringify({ results });
    },
    events: () => [],
    errorEvent: bedrockErrorEvent,
  };
}

function malformed(why: string): Refusal {
  return new Refusal(400, `Malformed input request: ${why}, please reformat your input and try again.`);
}
