import { bounds, Failure, type Principal } from "#core/index.ts";
import { mayCall } from "#identity/index.ts";
import { endpointProtocols } from "#protocols/index.ts";
import { serves } from "#relay/index.ts";
import { withKey } from "../authenticated.ts";
import type { CallRequest } from "../call-request.ts";
import type { ApiDependencies, Exchange } from "../dependencies.ts";
import { answerOf, grantOf } from "../model-call.ts";
import { renderFailure } from "../respond.ts";
import { ResponsesSession } from "../socket/responses-session.ts";
import type { Sockets, WebSocketLink } from "../socket/sockets.ts";

/** A response that an upstream stores: GET, DELETE, `/cancel` and `/input_items`. */
export const storedResponse = storedAnswer("responses");

/** An interaction that an upstream stores: GET, DELETE and `/cancel`. */
export const storedInteraction = storedAnswer("interactions");

function storedAnswer(endpoint: "responses" | "interactions") {
  const protocol = endpointProtocols[endpoint];
  return withKey(async (exchange, principal) => {
    const { request, requestId, query, streamEnd, path } = exchange;
    const { headers, signal } = request;
    const [id = "", ...rest] = path.slice(path.indexOf(endpoint) + endpoint.length + 1).split("/");
    const result = await exchange.dependencies.relay.ask({
      ...{ requestId, principal, protocol, query, headers, signal, streamEnd },
      upstreamId: decodeId(id, endpoint.slice(0, -1)),
      method: request.method as "GET" | "POST" | "DELETE",
      rest: rest.length === 0 ? "" : `/${rest.join("/")}`,
      mayCall: grantOf(principal),
    });
    return answerOf(exchange, result, protocol);
  });
}

function decodeId(segment: string, what: string): string {
  try {
    const id = decodeURIComponent(segment);
    if (/^[\w.:-]{1,200}$/.test(id)) return id;
  } catch {
    // Same error as for an id with other characters.
  }
  throw new Failure("not_found", `There is no ${what} with this id.`, { param: "id" });
}

/** Open WebSockets, in total and of one workspace. */
const socketsMax = 1_000;
const socketsOfWorkspaceMax = 256;

/**
 * GET /v1/responses with an upgrade: Responses over a WebSocket. If that is not possible the answer is 426, after which Codex falls
 * back to HTTP at once; after any other error it retries five times.
 */
export const responsesSocket = withKey((exchange, principal) => {
  const { dependencies, request, requestId, socket, streamEnd } = exchange;
  if (!request.headers.has("upgrade")) {
    return refused("A proxy removed the upgrade to a WebSocket from the request.", exchange);
  }
  if (socket === undefined) return refused("This call cannot become a WebSocket.", exchange);
  // RFC 6455, 4.2.2.
  if (!isHandshake(request)) {
    const answer = refused("The request is no WebSocket handshake of version 13.", exchange);
    answer.headers.set("sec-websocket-version", "13");
    return answer;
  }
  const problem = problemOf(dependencies, principal, socket.sockets);
  if (problem !== null) return refused(problem, exchange);
  const headers = { "x-request-id": requestId };
  const open = (link: WebSocketLink) => new ResponsesSession(exchange, socket.call, link, principal);
  return socket.sockets.upgrade(request.headers, { owner: principal, headers, open }, streamEnd);
});

/** RFC 6455, 4.1: the key is 16 bytes in base64. */
function isHandshake({ headers, body }: CallRequest): boolean {
  return (
    body === null &&
    headers.get("sec-websocket-version") === "13" &&
    /^[\w+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "")
  );
}

function refused(why: string, exchange: Exchange): Response {
  const failure = new Failure("websocket_unavailable", `${why} Use POST /v1/responses, with \`stream\` for events.`);
  exchange.seen.failure = failure;
  // RFC 9110, 15.5.22: a 426 names the protocols to use.
  const headers = { upgrade: "HTTP/1.1", connection: "upgrade" };
  return renderFailure(failure, exchange.requestId, headers, endpointProtocols.responses.dialect);
}

function problemOf(dependencies: ApiDependencies, principal: Principal, sockets: Sockets): string | null {
  if (sockets.size >= socketsMax) return "The gateway has too many open WebSockets.";
  if (sockets.sizeOf(principal.key.id) >= bounds.socketsOfKeyMax) return "The key has too many open WebSockets.";
  if (sockets.sizeOf(principal.workspace.id) >= socketsOfWorkspaceMax)
    return "The workspace has too many open WebSockets.";
  for (const model of dependencies.configSnapshot().models.values()) {
    if (mayCall(principal, model.name) && serves([model], endpointProtocols.responses)) return null;
  }
  return "No model of this key can be called with Responses.";
}
