import { countTokensProtocol } from "../endpoint-protocols.ts";
import { modelCall } from "../model-call.ts";
import { json } from "../respond.ts";
import { requireVersion } from "./messages.ts";

/**
 * POST /v1/messages/count_tokens. Where no upstream of the model can count, the answer is the same estimate that
 * reservations use, and says so: a client then trims its prompt a little early or late instead of failing.
 */
export const countTokens = modelCall({
  protocol: countTokensProtocol,
  require: requireVersion,
  forwardsQuery: true,
  unserved: ({ inputEstimate }, requestId) => estimatedCount({ input_tokens: inputEstimate }, requestId),
});

/** A count that is a guess, in the shape of its dialect. */
export function estimatedCount(count: object, requestId: string): Response {
  const response = json(count, requestId);
  const [name = ""] = Object.keys(count);
  response.headers.set("x-sluice-warnings", `${name} is an estimate: no upstream of this model counts tokens`);
  return response;
}
