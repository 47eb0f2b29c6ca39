import { wholeOf } from "#bodies/index.ts";
import { anonymousOwner, Failure } from "#core/index.ts";
import { callbackBody, readJsonPieces, withPlace } from "../../body.ts";
import type { Endpoint } from "../../dependencies.ts";
import { isGoogles } from "../../google-path.ts";
import { idBehind } from "../../request-parts.ts";
import { cancelGeminiBatch, deleteGeminiBatch, getGeminiBatch, listGeminiBatches } from "./gemini-batches.ts";
import { getOpenAiBatch, listOpenAiBatches } from "./openai-batches.ts";

/** Google's SDK uses OpenAI's paths from version 3 on. */
export const listBatches = shared(listOpenAiBatches, listGeminiBatches);
export const getBatch = shared(getOpenAiBatch, getGeminiBatch);
export const deleteBatch = deleteGeminiBatch;
export const cancelBatch = cancelGeminiBatch;

/** POST /v1/batch-callbacks/{provider}: a vendor's signed webhook about a batch. It only triggers a poll. */
export const batchCallback: Endpoint = (exchange) =>
  withPlace(exchange, anonymousOwner(exchange.address), async (place) => {
    const { dependencies, request } = exchange;
    const readBody = async () => wholeOf(await readJsonPieces(exchange, place, callbackBody));
    const provider = idBehind("/v1/batch-callbacks/", exchange);
    const isAccepted = await dependencies.batches.handleHint(provider, request.headers, readBody);
    if (!isAccepted) throw new Failure("not_found", "There is no webhook with this signature.");
    return new Response(null, { status: 204 });
  });

function shared(openai: Endpoint, google: Endpoint): Endpoint {
  return (exchange) => (isGoogles(exchange.request.headers) ? google(exchange) : openai(exchange));
}
