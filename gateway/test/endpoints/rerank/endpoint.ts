import type { ForwardedEndpoint } from "../forwarding-suite.ts";

const query = "where do ships go";
const documents = ["a hill", "ships go to a harbor", "a lighthouse"];

/** An upstream with Jina's API, priced by tokens. */
export const rerankEndpoint: ForwardedEndpoint = {
  path: "/v1/rerank",
  endpoint: "rerank",
  type: "rerank",
  price: { input: 0.05, search_unit: 2 },
  body: { query, documents, top_n: 2 },
  invalidBodies: [
    ["a call without a query", { documents }, "query"],
    ["a call without documents", { query }, "documents"],
    ["documents that are not a list", { query, documents: "one" }, "documents"],
    ["a model that is not text", { query, documents, model: 7 }, "model"],
  ],
  // The query has four words, which count with each of three documents of two, five and two words.
  usage: { inputUncached: 21, searchUnits: 1 },
  usageWhenLost: { searchUnits: 1 },
  invalidAnswer: { body: "[]" },
};
