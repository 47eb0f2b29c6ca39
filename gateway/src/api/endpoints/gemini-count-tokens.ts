import { geminiCountTokensProtocol } from "../endpoint-protocols.ts";
import { modelAsked } from "../google-path.ts";
import { modelCall } from "../model-call.ts";
import { estimatedCount } from "./count-tokens.ts";

/**
 * POST /v1beta/models/{model}:countTokens; below /v1/models/ as well. Where no upstream of the model can count, the answer
 * is the same estimate that reservations use, and says so.
 */
export const geminiCountTokens = modelCall({
  protocol: geminiCountTokensProtocol,
  path: modelAsked,
  unserved: ({ inputEstimate }, requestId) => estimatedCount({ totalTokens: inputEstimate }, requestId),
});
