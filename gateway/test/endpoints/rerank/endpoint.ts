import type { PassedEndpoint } from "../passed-suite.ts";

const query = "where do ships go";
const documents = ["a hill", "ships go to a harbour", "a lighthouse"];

/** At an upstream of Jina's style, priced by tokens. */
export const rerankEndpoint: PassedEndpoint = {
  path: "/v1/rerank",
  endpoint: "rerank",
  type: "rerank",
  price: { input: 0.05, search_unit: 2 },
  body: { query, documents, top_n: 2 },
  broken: [
    ["a call without a query", { documents }, "query"],
    ["a call without documents", { query }, "documents"],
    ["a call whose documents are no list", { query, documents: "one" }, "documents"],
    ["a model that is no text", { query, documents, model: 7 }, "model"],
  ],
  // Four words of the query with each of three documents of two, five and two words.
  usage: { inputUncached: 21, searchUnits: 1 },
  lost: { searchUnits: 1 },
  noAnswer: { body: "[]" },
};
