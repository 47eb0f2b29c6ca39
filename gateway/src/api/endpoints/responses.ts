import { Failure } from "#core/index.ts";
import { ServerAnswer } from "#http-server/index.ts";
import { mayCall } from "#identity/index.ts";
import { authenticated } from "../authenticated.ts";
import type { Endpoint } from "../dependencies.ts";
import { compactProtocol, inputTokensProtocol, responsesProtocol } from "../endpoint-protocols.ts";
import { modelCall } from "../model-call.ts";
import { renderFailure } from "../respond.ts";
import { estimatedCount } from "./model-calls.ts";

/** POST /v1/responses, normal and streaming, in the background or not. */
export const responses = modelCall({ protocol: responsesProtocol });

/** POST /v1/responses/compact. */
export const compact = modelCall({ protocol: compactProtocol });

/**
 * POST /v1/responses/input_tokens. Where no upstream of the model can count, the answer is the same estimate that
 * reservations use, and says so.
 */
export const inputTokens = modelCall({
  protocol: inputTokensProtocol,
  unserved: ({ inputEstimate }, requestId) =>
    estimatedCount({ object: "response.input_tokens", input_tokens: inputEstimate }, requestId),
});

export const responsesPrefix = "/v1/responses/";

/** A response that an upstream keeps: GET and DELETE of itself, `/cancel`, `/input_items`. */
export const keptResponse: Endpoint = async (dependencies, exchange) => {
  const { request, requestId } = exchange;
  const principal = await authenticated(dependencies, exchange);
  const [id = "", ...rest] = exchange.path.slice(responsesPrefix.length).split("/");
  exchange.patient();
  let streamEnd = (): void => {};
  const result = await dependencies.relay.ask({
    requestId,
    principal,
    protocol: responsesProtocol,
    upstreamId: decodeId(id),
    method: request.method as "GET" | "POST" | "DELETE",
    rest: rest.length === 0 ? "" : `/${rest.join("/")}`,
    query: exchange.query,
    headers: request.headers,
    signal: request.signal,
    startedMs: exchange.startedMs,
    mayCall: (model) => mayCall(principal, model),
    streamEnd: () => streamEnd(),
  });
  if ("failure" in result) {
    exchange.seen.failure = result.failure;
    return renderFailure(result.failure, requestId, result.headers, responsesProtocol.dialect);
  }
  if (!(result.body instanceof Uint8Array)) streamEnd = exchange.streams();
  return new ServerAnswer(result.status, result.headers, result.body);
};

function decodeId(segment: string): string {
  try {
    const id = decodeURIComponent(segment);
    if (/^[\w.:-]{1,200}$/.test(id)) return id;
  } catch {
    // Falls through to the same answer.
  }
  throw new Failure("not_found", "There is no response with this id.", { param: "id" });
}
