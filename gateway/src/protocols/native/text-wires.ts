import { requestFields } from "@sluice/contract/words";
import { noUsage } from "#core/index.ts";
import type { RequestFacts, UsageReading, Wire } from "../dialect.ts";
import type { Span } from "../json/cursor.ts";
import { countOf, objectOf } from "../json/value.ts";
import { sizeOf } from "../request/members.ts";
import { BodyReader, modelEdit } from "../request/request-body.ts";
import { estimatePrompt, forEachComma, nativeFacts, promptUsage, refuseStream, replyReader } from "./json-calls.ts";

const embeddingBodies = new BodyReader(requestFields.embeddings, ["user"]);

/** The upstream checks everything else, such as encoding_format. */
export const embeddingsWire: Wire = {
  readRequest(bytes) {
    const body = embeddingBodies.read(bytes);
    return nativeFacts(body, estimatePrompt(bytes, body.get("input")));
  },
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, input: "ok" }),
  readReply: replyReader(["data"], ["usage"], (member) => promptUsage(member("usage"))),
  tapStream: refuseStream("embeddings"),
};

const moderationBodies = new BodyReader(requestFields.moderations, ["user"]);

/** OpenAI's default. Source: API reference, "Create moderation". */
const defaultModerator = "omni-moderation-latest";

/** OpenAI reports no usage, Mistral does. */
export const moderationsWire: Wire = {
  readRequest(bytes) {
    const body = moderationBodies.read(bytes);
    return nativeFacts(body, body.estimate("input"), body.members.has("model") ? undefined : defaultModerator);
  },
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, input: "ok" }),
  readReply: replyReader(["results"], ["usage"], (member) => promptUsage(member("usage"))),
  tapStream: refuseStream("moderations"),
};

const rerankBodies = new BodyReader(requestFields.rerank, ["user"]);

/** Cohere splits documents into pieces of this many tokens including the query, and bills a search unit per hundred. */
const pieceTokens = 500;
const piecesPerUnit = 100;
/** Longer queries are cut. */
const pieceTokensLeast = pieceTokens / 2;
const bytesPerToken = 4;

/** Sources: Cohere's and Jina's API references, "Rerank". */
function readRerankRequest(bytes: Uint8Array): RequestFacts {
  const body = rerankBodies.read(bytes);
  const documents = body.get("documents");
  const sizes = piecesOf(bytes, documents);
  // Vendors that bill tokens count the query with each document.
  const read = sizeOf(documents) + sizeOf(body.get("query")) * sizes.documents;
  const facts = nativeFacts(body, Math.ceil(read / bytesPerToken));
  facts.estimatedUse = { likely: { searchUnits: unitsOf(sizes.likely) }, most: { searchUnits: unitsOf(sizes.most) } };
  return facts;
}

function unitsOf(pieces: number): number {
  return Math.ceil(pieces / piecesPerUnit);
}

/** `most`: a token has at least one byte. */
function piecesOf(body: Uint8Array, array: Span | undefined) {
  const sizes = { documents: 0, likely: 0, most: 0 };
  if (array === undefined) return sizes;
  let start = array.start + 1;
  const add = (end: number): void => {
    sizes.documents++;
    sizes.likely += Math.max(1, Math.ceil((end - start) / (pieceTokens * bytesPerToken)));
    sizes.most += Math.max(1, Math.ceil((end - start) / pieceTokensLeast));
    start = end + 1;
  };
  forEachComma(body, array, add);
  add(array.end - 1);
  return sizes;
}

/** Cohere v2 and Jina answer with `results` of `index` and `relevance_score`; Voyage calls them `data`. */
export const rerankWire: Wire = {
  readRequest: readRerankRequest,
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, query: "ok", documents: ["ok"] }),
  readReply: replyReader(["results", "data"], ["usage", "meta"], rerankUsage),
  tapStream: refuseStream("ranks"),
};

/**
 * Cohere reports search units in `meta.billed_units`, Jina and Voyage tokens in `usage`, others tokens in `meta`. Billed numbers come
 * first. Null without any.
 */
function rerankUsage(member: (name: string) => unknown): Pick<UsageReading, "usage"> | null {
  const usage = objectOf(member("usage"));
  const meta = objectOf(member("meta"));
  const billed = objectOf(meta["billed_units"]);
  const read = objectOf(meta["tokens"]);
  const searchUnits = countOf(billed["search_units"]);
  const tokens =
    countOf(billed["input_tokens"]) ??
    countOf(billed["total_tokens"]) ??
    countOf(usage["total_tokens"]) ??
    countOf(usage["prompt_tokens"]) ??
    countOf(read["input_tokens"]);
  if (searchUnits === null && tokens === null) return null;
  return { usage: { ...noUsage, inputUncached: tokens ?? 0, searchUnits: searchUnits ?? 0 } };
}
