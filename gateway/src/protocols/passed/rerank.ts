import { requestFields } from "@sluice/contract/words";
import { noUsage } from "#core/index.ts";
import type { RequestFacts, UsageReading, Wire } from "../dialect.ts";
import type { Span } from "../json/cursor.ts";
import { countOf, objectOf } from "../json/value.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, scanRequest, sizeOf } from "../request/members.ts";
import { eachItem, modelEdit, passedFacts, refuseStream, replyReader } from "./passed-json.ts";

const checks = new MemberChecks(requestFields.rerank);

const wanted = bodyNames(["model", "query", "documents", "user"]);

/** Cohere counts a document in pieces of this many tokens, the query in each of them, and a search unit for each hundred. */
const pieceTokens = 500;
const piecesPerUnit = 100;
/** Of a piece at least so much is the document's: a query is cut where it would leave less. */
const pieceTokensLeast = pieceTokens / 2;
const bytesPerToken = 4;

/** Reads what governs a request to rank documents. Sources: Cohere's and Jina's API references, "Rerank". */
function readRerankRequest(body: Uint8Array): RequestFacts {
  const members = scanRequest(body, wanted);
  checks.check(body, members);
  const documents = members.get("documents");
  const sizes = piecesOf(body, documents);
  const queryBytes = sizeOf(members.get("query"));
  return passedFacts(body, members, {
    // Vendors that charge by tokens count the query with each document.
    inputEstimate: Math.ceil((sizeOf(documents) + queryBytes * sizes.documents) / bytesPerToken),
    counted: { likely: { searchUnits: unitsOf(sizes.likely) }, most: { searchUnits: unitsOf(sizes.most) } },
  });
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
  eachItem(body, array, add);
  add(array.end - 1);
  return sizes;
}

/**
 * Documents in the order in which they answer a query. Cohere's v2 and Jina's API ask alike and answer with the same
 * `results` of `index` and `relevance_score`; Voyage calls them `data`. They differ in how they tell what was used.
 */
export const rerankWire: Wire = {
  readRequest: readRerankRequest,
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, query: "ok", documents: ["ok"] }),
  readReply: replyReader(["results", "data"], ["usage", "meta"], rerankUsage),
  tapStream: refuseStream("ranks"),
};

/**
 * Cohere tells search units in `meta.billed_units`, Jina and Voyage tokens in `usage`, others tokens in `meta`. What is told as
 * billed comes before what was merely read. null when nothing is told.
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
