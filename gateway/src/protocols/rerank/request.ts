import { requestFields } from "@sluice/contract/words";
import { bodyNames } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Span } from "../json-scan.ts";
import { MemberChecks } from "../member-checks.ts";
import { eachItem, passedFacts } from "../passed-json.ts";
import { scanRequest, sizeOf } from "../request-members.ts";

const checks = new MemberChecks(requestFields.rerank);

const wanted = bodyNames(["model", "query", "documents", "user"]);

/** Cohere counts a document in pieces of this many tokens, the query in each of them, and a search unit for each hundred. */
const pieceTokens = 500;
const piecesPerUnit = 100;
/** Of a piece at least so much is the document's: a query is cut where it would leave less. */
const pieceTokensLeast = pieceTokens / 2;
const bytesPerToken = 4;

/** Reads what governs a request to rank documents. Sources: Cohere's and Jina's API references, "Rerank". */
export function readRerankRequest(body: Uint8Array): RequestFacts {
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
