import { Failure } from "#core/index.ts";
import { authenticated } from "../authenticated.ts";
import type { Endpoint } from "../dependencies.ts";
import { protocols } from "../endpoint-protocols.ts";
import { answerOf, grantOf, modelCall, StreamEnd } from "../model-call.ts";
import { estimatedCount } from "./model-calls.ts";

export const responses = modelCall({ protocol: protocols.responses });

export const compact = modelCall({ protocol: protocols["responses-compact"] });

/**
 * POST /v1/responses/input_tokens. Where no upstream of the model can count, the answer is the same estimate that
 * reservations use, and says so.
 */
export const inputTokens = modelCall({
  protocol: protocols["input-tokens"],
  unserved: ({ inputEstimate }, requestId) =>
    estimatedCount({ object: "response.input_tokens", input_tokens: inputEstimate }, requestId),
});

/** A response that an upstream keeps: GET and DELETE of itself, `/cancel`, `/input_items`. */
export const keptResponse: Endpoint = async (dependencies, exchange) => {
  const { request, requestId } = exchange;
  const principal = await authenticated(dependencies, exchange);
  const [id = "", ...rest] = exchange.path.slice("/v1/responses/".length).split("/");
  exchange.patient();
  const end = new StreamEnd();
  const result = await dependencies.relay.ask({
    requestId,
    principal,
    protocol: protocols.responses,
    upstreamId: decodeId(id),
    method: request.method as "GET" | "POST" | "DELETE",
    rest: rest.length === 0 ? "" : `/${rest.join("/")}`,
    query: exchange.query,
    headers: request.headers,
    signal: request.signal,
    startedMs: exchange.startedMs,
    mayCall: grantOf(principal),
    streamEnd: end.tell,
  });
  return answerOf(exchange, result, protocols.responses, end);
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
