import type { Endpoint } from "../../dependencies.ts";
import { isGoogles } from "../../google-path.ts";
import { cancelGeminiBatch, deleteGeminiBatch, getGeminiBatch, listGeminiBatches } from "./gemini-batches.ts";
import { getOpenAiBatch, listOpenAiBatches } from "./openai-batches.ts";

/** Google's SDK uses OpenAI's paths from version 3 on. */
export const listBatches = shared(listOpenAiBatches, listGeminiBatches);
export const getBatch = shared(getOpenAiBatch, getGeminiBatch);
export const deleteBatch = deleteGeminiBatch;
export const cancelBatch = cancelGeminiBatch;

function shared(openai: Endpoint, google: Endpoint): Endpoint {
  return (exchange) => (isGoogles(exchange.request.headers) ? google(exchange) : openai(exchange));
}
