import { asFailure } from "#core/index.ts";
import { anthropicMessages, endpointProtocols } from "#protocols/index.ts";
import { type ObjectEndpoint, objectCollections, type PassThroughRoute } from "#relay/index.ts";
import { withKey } from "../authenticated.ts";
import type { Endpoint } from "../dependencies.ts";
import { vendorDialect } from "../google-path.ts";
import { answerOf, grantOf } from "../model-call.ts";
import { passBy } from "./pass-through.ts";

/**
 * Objects that vendors store: conversations, containers, skills, vector stores. A call goes to the account of its object; the gateway
 * itself answers lists.
 */
export function vendorObjects(endpoint: ObjectEndpoint): Endpoint {
  return withKey(async (exchange, principal) => {
    const { dependencies, request, path, query, requestId } = exchange;
    const { headers, signal, method } = request;
    const dialect = vendorDialect(headers);
    const vendor = dialect === anthropicMessages ? "anthropic" : "openai";
    const mayCall = grantOf(principal);
    const objectRequest = { endpoint, method, principal, path, query, headers, vendor, mayCall, signal };
    const protocol = { ...endpointProtocols["pass-through"], dialect };
    const isList = objectCollections[endpoint.collection].list && !endpoint.path.includes("{");
    if (isList && method === "GET") {
      return answerOf(exchange, await dependencies.relay.listObjects(objectRequest, requestId, protocol), protocol);
    }
    let route: PassThroughRoute;
    try {
      route = await dependencies.relay.objectRoute(objectRequest);
    } catch (thrown) {
      return answerOf(exchange, { failure: asFailure(thrown), headers: {} }, protocol);
    }
    return await passBy(exchange, principal, route);
  });
}
