import type { Wire } from "../dialect.ts";
import { modelEdit, refuseStream, replyReader } from "../passed-json.ts";
import { readRerankRequest } from "./request.ts";
import { rerankUsage } from "./usage.ts";

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
